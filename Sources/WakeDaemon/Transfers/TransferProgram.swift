// How `wakebridge-transferd` is started: outside the daemon's own unit where systemd runs, so that no restart of that ends it.
import Glibc
import WakeSystem

enum TransferProgram {
    private static let name = "wakebridge-transferd"

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

    /// - Parameter account: nil for the daemon's own user.
    static func command(for account: Account?) throws(SystemError) -> [String] {
        var words = [try path()]
        if let account {
            let groups = account.groups.map(String.init).joined(separator: ",")
            words += ["--user=\(account.user)", "--group=\(account.group)", "--groups=\(groups)"]
        }
        return words
    }

    /// A scope has the process that asks for it, with its descriptors, and ends with its last process. Empty without systemd.
    static func scope(of user: UInt32) -> [String] {
        guard File.exists("/run/systemd/system"), Environment.value(of: "INVOCATION_ID") != nil,
            let program = try? Executable.find("systemd-run")
        else { return [] }
        let manager = geteuid() == 0 ? [] : ["--user"]
        return [program] + manager
            + ["--scope", "--quiet", "--collect", "--unit=\(name)-\(user)-\(SystemClock.boottime().nanoseconds)", "--"]
    }

    /// That of this daemon lies beside it.
    private static func path() throws(SystemError) -> String {
        let own = (try? File.linkTarget(of: "/proc/self/exe")).map { File.parent(of: $0) + "/" + name }
        if let own, File.exists(own) { return own }
        return try Executable.find(name)
    }

    /// What a program needs that asks the network, through a proxy where there is one, and that asks systemd for its scope.
    static var environment: [String] {
        let names = [
            "PATH", "LANG", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "http_proxy", "https_proxy", "no_proxy",
            "all_proxy", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
        ]
        return names.compactMap { name in Environment.value(of: name).map { "\(name)=\($0)" } }
    }
}
