// Starts `wakebridge-transferd`: outside the daemon's unit where systemd runs, so that no restart of the unit ends it.
import Glibc
import WakeModel
import WakeSystem

/// The user that a program runs as: made of a manifest's account alone, so that none runs as the daemon in place of another user.
enum TransferUser {
    case daemon
    case other(Account)

    /// - Parameter account: of a manifest; nil where the handler runs as the daemon's user.
    init(_ account: Account?) {
        guard let account, !account.isCurrent else {
            self = .daemon
            return
        }
        self = .other(account)
    }

    var number: UInt32 {
        switch self {
        case .daemon: geteuid()
        case .other(let account): account.user
        }
    }

    /// Names its socket, its lock and its scope. The same user with other groups has a program of its own.
    var label: String {
        switch self {
        case .daemon: return "\(geteuid())"
        case .other(let account):
            let others = account.groups.filter { $0 != account.group }.sorted()
            var check = FNV1a()
            for group in others { check.add(UInt64(group)) }
            let end = others.isEmpty ? "" : "-" + String(check.value, radix: 16)
            return "\(account.user)-\(account.group)\(end)"
        }
    }

    /// The program's arguments for the user.
    var words: [String] {
        switch self {
        case .daemon: return []
        case .other(let account):
            let groups = account.groups.map(String.init).joined(separator: ",")
            return ["--user=\(account.user)", "--group=\(account.group)", "--groups=\(groups)"]
        }
    }
}

enum TransferProgram {
    private static let name = "wakebridge-transferd"
    /// Seconds.
    private static let patience = 10
    /// Limits of the whole scope. A session moves at most 16 files, each with one thread that resolves a name and one
    /// that writes. If a thread cannot start, its transfer is tried again.
    private static let limits = ["-p", "MemoryMax=256M", "-p", "TasksMax=64"]

    /// Runs it in a scope of its own, or beside the daemon where systemd gives it none. It has detached itself by then.
    static func run(
        _ command: [String], in scope: [String], socket: Int32, lock: Int32
    ) -> Result<Int32, SystemError> {
        if !scope.isEmpty {
            let scoped = DetachedProgram.run(scope + command, environment: environment, socket: socket, lock: lock)
            if case .success(0) = scoped { return scoped }
        }
        return DetachedProgram.run(command, environment: environment, socket: socket, lock: lock)
    }

    static func command(for user: TransferUser) throws(SystemError) -> [String] { [try path()] + user.words }

    /// A scope has the process that asks for it, with its descriptors, and ends with its last process. Empty without systemd.
    static func scope(of user: TransferUser) -> [String] {
        guard File.exists("/run/systemd/system"), Environment.value(of: "INVOCATION_ID") != nil,
            let program = try? Executable.find("systemd-run"), let limit = try? Executable.find("timeout")
        else { return [] }
        let unit = "--unit=\(name)-\(user.label)-\(SystemClock.boottime().nanoseconds)"
        // A bus that hangs must not hold transfers up for ever.
        let words = [limit, "--kill-after=\(patience)", "\(patience)", program] + (geteuid() == 0 ? [] : ["--user"])
        return words + ["--scope", "--quiet", "--collect"] + limits + [unit, "--"]
    }

    /// The program of this daemon is beside it.
    private static func path() throws(SystemError) -> String {
        let own = (try? File.linkTarget(of: "/proc/self/exe")).map { File.parent(of: $0) + "/" + name }
        if let own, File.exists(own) { return own }
        return try Executable.find(name)
    }

    /// Variables for a program that uses the network, perhaps through a proxy, and that asks systemd for its scope.
    static var environment: [String] {
        let names = [
            "PATH", "LANG", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "http_proxy", "https_proxy", "no_proxy",
            "all_proxy", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
        ]
        return names.compactMap { name in Environment.value(of: name).map { "\(name)=\($0)" } }
    }
}
