// An attack on a real daemon: a victim beside the attacker, a quiet phase, the attack, and the victim's cost of both.
import Glibc
import TestBench
import Testing
import WakeModel

/// Leaves nothing behind when the test lets go of it, however that ended.
final class Siege {
    /// Beats of the trace, the attack beginning with the first of its own.
    static let (quiet, attacked) = (40, 80)
    private static let (quietPeriod, attackedPeriod) = (0.025, 0.04)
    /// Until here the victim may be launched.
    private static let begin = 1.0

    let name: String
    let ground = Ground("hostile")
    private(set) var daemon: Daemon?
    private var strangers: [pid_t] = []
    var attacker: String { ground.file("attacker") }
    var victim: String { ground.file("victim") }
    private var tree: String { Machine.cgroup(ofDaemonAt: ground.runtime) }
    /// A directory that everyone may write to.
    var yard: String { ground.file("yard") }

    /// - Parameters:
    ///   - name: how its figures are called.
    ///   - user: who the victim runs as.
    init(_ name: String, victimUser user: String = "root") throws {
        self.name = name
        // Beside everything else of the test, where other users reach them.
        put(bytes(of: Built.attacker), at: attacker, mode: 0o755)
        put(bytes(of: Built.fixture), at: victim, mode: 0o755)
        mkdir(yard, 0o777)
        chmod(yard, 0o777)
        install("victim", [victim, "--record", "\(yard)/record"], user)
    }

    /// The daemon first, with its cgroups; then what may have left them.
    deinit {
        for stranger in strangers { killAndReap(stranger) }
        daemon = nil
        for stray in processes(mentioning: ground.path) { kill(stray, SIGKILL) }
        removeCgroups()
    }

    /// Those that the daemon had to leave, which a test of what must hold has told already.
    private func removeCgroups() {
        put("1", at: "\(tree)/cgroup.kill")
        _ = Patience.wait(.seconds(5)) {
            for leaf in names(in: tree) { rmdir("\(tree)/\(leaf)") }
            return rmdir(tree) == 0 || access(tree, F_OK) < 0
        }
    }

    /// Installs the handler that attacks from the first beat of the attack on.
    func admit(_ attack: String, _ words: [String] = [], user: String = "nobody", _ more: String = "") {
        install("attacker", [attacker, attack, "\(Self.quiet)"] + words, user, more)
    }

    private func install(_ id: String, _ words: [String], _ user: String, _ more: String = "") {
        put(Self.manifest(words, user, more), at: ground.file("config/handlers.d/\(id).json5"))
    }

    static func manifest(_ words: [String], _ user: String, _ more: String = "") -> String {
        let exec = words.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            { exec: [\(exec)], user: "\(user)", modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor" }],
              timers: { linger: "2ms", failure_base: "1ms", failure_cap: "5ms" }, \(more) }
            """
    }

    /// Starts a process of the ordinary user with words of the attacker; killed at the latest with this.
    func send(_ words: [String]) throws {
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let log = Outlet.file(ground.file("strangers.log"))
        strangers.append(try spawn(user + [attacker] + words, output: log, talk: log))
    }

    /// For a manifest: a connection that the daemon holds, to peers that read nothing.
    func heldLine(fds: String = "inherit") async throws -> String {
        let file = "\(yard)/port"
        try send(["peers", file, "180"])
        let hasPeers = try await wait(10) { !text(of: file).isEmpty }
        try #require(hasPeers)
        // As an address of the kernel's contains it.
        let port = try #require(lines(of: file).first.flatMap { UInt16($0) })
        return "sockets: [{ name: \"line\", connect: \"tcp:127.0.0.1:\(UInt16(bigEndian: port))\", fds: \"\(fds)\" }]"
    }

    /// The same over a Unix socket, to a peer that fills it with what takes so many seconds to close.
    func filledLine(_ seconds: Int) async throws -> String {
        let path = "\(yard)/peer"
        try send(["fill", path, "180", "\(seconds)"])
        let isThere = try await wait(10) { access(path, W_OK) == 0 }
        try #require(isThere)
        return "sockets: [{ name: \"line\", connect: \"unix:\(path)\" }]"
    }

    /// What the tool says and its exit status, nil where it does not end in time.
    func tool(_ words: String..., within seconds: Double = 5) async throws -> (exit: Int32, talk: String)? {
        let tool = try Child([Built.tool, "--socket", ground.socket] + words)
        guard try await wait(seconds, for: { tool.isOver }) else { return nil }
        return (tool.exit, tool.output + tool.talk)
    }

    // MARK: The phases

    private static func due(_ beat: Int) -> Double {
        let isQuiet = beat < quiet
        return begin + (isQuiet ? Double(beat) * quietPeriod : Double(quiet) * quietPeriod)
            + (isQuiet ? 0 : Double(beat - quiet) * attackedPeriod)
    }

    private static let trace: String = {
        var trace = TraceText()
        trace.add(0, 1, "connect")
        for beat in 0..<(quiet + attacked) {
            trace.add(due(beat), 1, "data 2a37 " + [0, UInt8(beat)].hexadecimal)
        }
        return trace.text
    }()

    private var heard: [Heard] { Heard.read("\(yard)/record") }

    /// Plays both phases and waits until the victim has heard all, or `patience` is over.
    /// - Parameter assault: what the test itself does while the attack lasts.
    func stand(patience: Double = 30, ahead: [String] = [], during assault: () async throws -> Void = {}) async throws
        -> Figures
    {
        let daemon = Daemon(ground, trace: ground.write(Self.trace, to: "made.trace"), speed: "1", ahead: ahead)
        self.daemon = daemon
        try daemon.start()
        let isCalm = try await wait(20, every: 0.02) { heard.contains { $0.beat == Self.quiet - 1 } }
        try #require(isCalm, "the victim was not woken in the quiet phase: \(text(of: ground.daemonLog).suffix(2000))")
        let metronome = Metronome(period: Self.quietPeriod)
        let caller = Caller(ground.socket)
        let (start, spent) = (monotonicNow(), processorTime(of: daemon.pid))
        try await assault()
        _ = try await wait(patience, every: 0.05) { heard.count >= Self.quiet + Self.attacked }
        // The last beats are heard, and the attack may go on: the daemon pays for that as well.
        try await RealTime.reach(start + Double(Self.attacked) * Self.attackedPeriod)
        let processor = (processorTime(of: daemon.pid) - spent) / (monotonicNow() - start)
        let answers = await caller.stop()
        let status = try await tool("status", "--json")?.talk ?? ""
        let figures = Figures(
            name: name, heard: heard, due: Self.due, machine: await metronome.stop(), answers: answers,
            processor: processor, tasks: tasks,
            turn: member("longest_ms", of: status[...]).flatMap { Double($0) }.map { $0 / 1000 })
        print(figures)
        return figures
    }

    /// Processes and threads of the attacker.
    private var tasks: Int {
        names(in: tree).filter { $0.hasPrefix("attacker") }
            .map { lines(of: "\(tree)/\($0)/cgroup.threads").count }.reduce(0, +)
    }

    /// Ends the daemon in order: that and what is left belongs to what must hold.
    func end() async throws {
        guard let daemon else { return }
        #expect(try await daemon.stop() == 0)
        for stranger in strangers { killAndReap(stranger) }
        strangers = []
        let isClean = try await wait(5) { daemon.leftovers.isEmpty }
        #expect(isClean, "\(daemon.leftovers)")
    }
}

/// Seconds that a process has spent on a processor, in the kernel and out of it.
private func processorTime(of process: pid_t) -> Double {
    let fields = text(of: "/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}
