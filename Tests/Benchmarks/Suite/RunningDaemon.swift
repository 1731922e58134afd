// A wakebridged with a folder of its own, started as the service manager does and timed to its READY=1.
import Glibc
import WakeModel
import WakeSystem

final class RunningDaemon {
    let pid: Int32
    let readyAfter: TimeSpan

    /// - Parameter program: another place of it than beside this one.
    init(
        _ folder: DaemonFolder, words: [String] = [], program: String? = nil, environment: [String] = []
    ) throws {
        let address = folder.path + "/notify"
        let listener = try Self.listen(at: address)
        let null = try File.open("/dev/null", for: .read)
        let start = SystemClock.monotonic()
        pid = try Program.start(
            [
                try program ?? Places.sibling("wakebridged"), "--config", folder.path + "/etc", "--state",
                folder.path + "/state",
                "--runtime", folder.path + "/run",
            ] + words,
            input: null.raw, log: folder.path + "/log",
            environment: ["NOTIFY_SOCKET=\(address)"] + folder.environment + environment)
        var message = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&message, 1, 10_000) == 1 else { throw Failure("wakebridged was not ready within 10 s") }
        readyAfter = SystemClock.monotonic() - start
    }

    func end() {
        kill(pid, SIGTERM)
        Program.awaitEnd(of: pid)
    }

    private static func listen(at path: String) throws -> FileDescriptor {
        let socket = FileDescriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw SystemError("listen at", path, .last) }
        return socket
    }
}

/// Profiles, manifests and a trace of one event for a daemon to find.
struct DaemonFolder {
    let path: String
    /// Profiles of one's own, in place of what is shipped.
    private let hasProfiles: Bool
    var trace: String { path + "/one.trace" }
    var environment: [String] { hasProfiles ? ["WAKEBRIDGE_DEVICES=\(path)/Devices"] : [] }

    init(profiles: Int, handlers: Int, devices: Int = 1) throws {
        path = try MemoryFolder.make()
        hasProfiles = true
        try Directory.create(path + "/etc/handlers.d")
        let shipped = try File.bytes(at: Places.checkout() + "/Devices/heart-rate-monitor/profile.json5")
        for number in 1...profiles { try writeProfile(shipped, number) }
        try Directory.create(path + "/Devices/gatt")
        for uuid in ["2a37", "2a38", "2a19"] {
            let shared = try File.bytes(at: Places.checkout() + "/Devices/gatt/\(uuid).json5")
            try File.replace("\(path)/Devices/gatt/\(uuid).json5", with: shared)
        }
        for number in 1...handlers { try writeManifest(number, #"{ profile: "heart-rate-monitor" }"#) }
        try File.replace(trace, with: Array(Self.oneEvent(ofEach: devices).utf8))
    }

    /// With the profiles that are shipped, a handler for each list of what is watched, and no limit on what devices say.
    init(watching lists: [String], timers: String? = nil) throws {
        path = try MemoryFolder.make()
        hasProfiles = false
        try Directory.create(path + "/etc/handlers.d")
        try File.replace(path + "/etc/wakebridge.json5", with: Array("{ storm: { enabled: false } }".utf8))
        for (place, list) in lists.enumerated() { try writeManifest(place + 1, list, timers) }
    }

    func remove() { Directory.removeTree(path) }

    /// A profile's name is its folder's.
    private func writeProfile(_ text: [UInt8], _ number: Int) throws {
        let name = number == 1 ? "heart-rate-monitor" : "heart-rate-monitor-\(number)"
        let own = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("  name: \"heart-rate-monitor\"") ? "  name: \"\(name)\"," : String($0) }
            .joined(separator: "\n")
        try Directory.create("\(path)/Devices/\(name)")
        try File.replace("\(path)/Devices/\(name)/profile.json5", with: Array(own.utf8))
    }

    func board(_ number: Int) -> String { "\(path)/board\(number)" }

    private func writeManifest(_ number: Int, _ watches: String, _ timers: String? = nil) throws {
        let manifest = """
            { exec: ["\(try Places.handler())", "\(board(number))"], user: "\(try Account.current().name)",
              modes: ["bluetooth-central"], watch: [\(watches)]\(timers.map { ", \($0)" } ?? "") }
            """
        try File.replace("\(path)/etc/handlers.d/h\(number).json5", with: Array(manifest.utf8))
    }

    private static func oneEvent(ofEach devices: Int) -> String {
        let numbers = (1...devices).map { $0 }
        let known = numbers.map { number in
            let place = String(100 + number).dropFirst()
            return "device \(number) bluetooth C0:F1:F2:F3:F4:\(place) alias=\"chest-strap-\(number)\" service=180d\n"
        }
        let said = numbers.map { "+0.000000 \($0) connect\n+0.001000 \($0) data 2a37 163cf803\n" }
        return "wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n\((known + said).joined())end\n"
    }
}
