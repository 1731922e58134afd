// Where a bridge keeps its things by default: the directories of a daemon that you start, and the socket on which
// one answers you.
import Glibc
import WakeEngine
import WakeSystem

public struct BridgePlaces: Hashable, Sendable {
    /// Holds `wakebridge.json5`, `handlers.d/` and, where profiles are added, `Devices/`.
    public var configuration: String
    public var state: String
    public var runtime: String
    /// The socket to ask by default: the system's daemon answers users too, unless they run one of their own.
    public var controlSocket: String
    /// The system's, where neither that nor the user's own is there.
    public var otherSocket: String?

    /// The places of root, and of the service.
    public static let machine = BridgePlaces(
        configuration: "/etc/wakebridge", state: "/var/lib/wakebridge", runtime: "/run/wakebridge")

    public static var mine: BridgePlaces {
        BridgePlaces(
            of: geteuid(), environment: Environment.value(of:), home: { (try? Account.current())?.home },
            exists: { File.exists($0) }, isOwn: { TrustedDirectory.isOwn($0) })
    }

    private init(configuration: String, state: String, runtime: String) {
        self.configuration = configuration
        self.state = state
        self.runtime = runtime
        controlSocket = runtime + "/control.sock"
    }

    /// The system's for root; for others those of the XDG base directory specification, where a user has no session a place in
    /// /tmp. `environment` returns nil for unset and empty variables; the account's `home` is the fallback for them.
    /// XDG_RUNTIME_DIR counts only where it is the user's own.
    public init(
        of user: UInt32, environment: (String) -> String?, home account: () -> String?, exists: (String) -> Bool,
        isOwn: (String) -> Bool
    ) {
        self = .machine
        if user == 0 { return }
        let home = environment("HOME") ?? account().flatMap { $0.isEmpty ? nil : $0 } ?? Self.standIn(for: user)
        let session = "/run/user/\(user)"
        let said = environment("XDG_RUNTIME_DIR").flatMap { isOwn($0) ? $0 : nil }
        let folder = said ?? (exists(session) ? session : Self.standIn(for: user))
        self = BridgePlaces(
            configuration: (environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/wakebridge",
            state: (environment("XDG_STATE_HOME") ?? home + "/.local/state") + "/wakebridge",
            runtime: folder + "/wakebridge")
        if exists(controlSocket) { return }
        let machines = Self.machine.controlSocket
        if exists(machines) { controlSocket = machines } else { otherSocket = machines }
    }

    /// For a user without a session or a home.
    private static func standIn(for user: UInt32) -> String { "/tmp/wakebridge-\(user)" }

    private static func standIn(holding path: String) -> String? {
        let place = standIn(for: geteuid())
        return "\(path)/".hasPrefix("\(place)/") ? place : nil
    }

    /// Throws where `path` is in this user's place in /tmp and that is another's: everybody can make a directory there.
    public static func check(_ path: String) throws(SystemError) {
        guard let place = standIn(holding: path) else { return }
        try Directory.refuse(
            place, advice: "have it removed, or set XDG_RUNTIME_DIR and HOME to directories of your own")
    }

    /// The same, for what is about to be made there: that place is taken from then on. Throws too where another user could
    /// change a directory that `path` leads through.
    static func claim(_ path: String) throws(SystemError) {
        if let place = standIn(holding: path) { try Directory.create(place, mode: 0o755) }
        try check(path)
        try TrustedDirectory.require(path)
    }
}
