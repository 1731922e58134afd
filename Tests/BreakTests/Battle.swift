// One round from its ground to its verdict: a bridge of its own, a trace, faults, calm, and the reckoning.
import Glibc
import TestBench
import Testing

final class Battle {
    private let round: Round
    private let rate: Int
    private let ground = Ground("break")
    private let daemon: Daemon
    private let injector: Injector
    private var mounts: [String] = []
    private(set) var tally = Tally()

    init(_ round: Round, rate: Int, _ programs: Programs) throws {
        (self.round, self.rate) = (round, rate)
        let trace = BulkTrace(rate: rate, seconds: round.seconds, seed: round.seed)
        tally.events = trace.count
        put(trace.text, at: ground.file("made.trace"))
        let ahead = Self.ahead(round.theme, programs)
        daemon = Daemon(ground, trace: ground.file("made.trace"), speed: "1", ahead: ahead)
        injector = Injector(ground, daemon, programs)
        for member in Crew.all {
            let manifest = member.manifest(programs.handler, ground.file("heard"))
            ground.write(manifest, to: "config/handlers.d/\(member.id).json5")
        }
        ground.write(description, to: "round.json")
        if round.theme == .full { try mountSmall() }
    }

    /// The directories go before what is mounted on them could be removed with them.
    deinit { for mount in mounts { umount2(mount, Int32(MNT_DETACH)) } }

    private static func ahead(_ theme: Theme, _ programs: Programs) -> [String] {
        switch theme {
        case .clock: programs.clock?.ahead ?? []
        case .weak: weak
        case .kills, .manners, .full, .damage, .starved: []
        }
    }

    /// A mount namespace of its own, where nobody can make a cgroup.
    private static var weak: [String] {
        let mount = lines(of: "/proc/self/mountinfo").first { $0.contains(" - cgroup2 ") }
        let point = mount.map { String($0.split(separator: " ")[4]) } ?? "/sys/fs/cgroup"
        return ["unshare", "-m", "sh", "-c", "mount -o remount,bind,ro \(point) && exec \"$@\"", "sh"]
    }

    private var description: String {
        let members = Crew.all.map(\.description).joined(separator: ",\n  ")
        return """
            {"theme": "\(round.theme.rawValue)", "seconds": \(round.seconds), "runtime": "\(ground.runtime)",
             "tree": "\(Machine.cgroup(ofDaemonAt: ground.runtime))", "handlers": {
              \(members)}}
            """
    }

    private func mountSmall() throws {
        mkdir(ground.file("state"), 0o755)
        for folder in [ground.file("state"), ground.runtime] {
            let words = ["mount", "-t", "tmpfs", "-o", "size=24m,mode=755", "tmpfs", folder]
            try #require(try Child(words).finish().exit == 0, "cannot mount a tmpfs on \(folder)")
            mounts.append(folder)
        }
    }

    // MARK: The round

    /// True where every invariant held.
    func fight() async throws -> Bool {
        let begin = monotonicNow()
        do {
            try injector.start()
            try await injector.play(round)
            try await injector.calmDown()
            try await settle()
            try reckonCalm()
            try await end()
        } catch {
            tally.complaints.append("\(error)".prefix(600).description)
        }
        tally.complaints += injector.complaints
        try reckon()
        if round.theme == .kills { try ask("again", Built.tool) }
        // Whatever was told above, the next round begins on a quiet machine.
        for stray in processes(mentioning: ground.path) { kill(stray, SIGKILL) }
        tally.seconds = monotonicNow() - begin
        tally.faults = injector.injected
        ground.isKept = ground.isKept || !tally.complaints.isEmpty
        return tally.complaints.isEmpty
    }

    /// Where the reckoning and everybody's records lie.
    var folder: String { ground.path }

    /// Whatever came of it, its folder stays until it is to be forgotten.
    func keep() { ground.isKept = true }
    func forget() { ground.isKept = false }

    private func settle() async throws {
        let isPlayed = try await wait(90, every: 0.1) { self.daemon.hasPlayed }
        let isSettled = try await wait(60, every: 0.1) { try await self.daemon.owed() == 0 }
        if !isPlayed || !isSettled {
            let status = try await daemon.tool("status").output
            tally.complaints.append("I4: \(isPlayed ? "still owed" : "not played") when all is calm:\n\(status)")
        }
        try await injector.collectWaits()
        injector.note("calm \(daemon.pid)")
    }

    private func reckonCalm() throws { try ask("calm", "\(daemon.pid)") }

    /// What the reckoning complains of, if anything.
    private func ask(_ question: String, _ word: String) throws {
        let (exit, output) = try Programs.reckon(question, ground.path, word)
        if exit != 0 { tally.complaints += output.split(separator: "\n").map(String.init) }
    }

    private func end() async throws {
        injector.note("end-bridge \(daemon.pid)")
        let exit = try await daemon.stop()
        if exit != 0 { tally.complaints.append("the bridge was asked to end and ended with \(exit)") }
        injector.keepJournals(in: "end")
        tally.complaints += daemon.leftovers.map { "I7: left over: \($0)" }
    }

    private func reckon() throws {
        let (exit, output) = try Programs.reckon("round", ground.path)
        tally.take(output)
        if exit != 0, tally.complaints.isEmpty {
            tally.complaints.append("the reckoning failed: \(output.suffix(600))")
        }
    }
}
