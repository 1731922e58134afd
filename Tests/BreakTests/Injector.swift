// Does what the plan says to a bridge that runs, and notes when it did what.
import Glibc
import TestBench
import Testing

final class Injector {
    let ground: Ground
    let daemon: Daemon
    private let programs: Programs
    private var waits = 0
    private(set) var injected: [String: Int] = [:]
    private(set) var complaints: [String] = []
    /// Waiters for locks: their processes, and where they say how long it took.
    private var waiters: [(process: pid_t, file: String)] = []

    init(_ ground: Ground, _ daemon: Daemon, _ programs: Programs) {
        (self.ground, self.daemon, self.programs) = (ground, daemon, programs)
        for folder in ["heard", "deaths", "waits"] { mkdir(ground.file(folder), 0o755) }
    }

    func play(_ round: Round) async throws {
        let start = monotonicNow()
        for step in round.steps {
            try await pause(start + step.at - monotonicNow())
            try await lookAfterBridge()
            if step.fault.isFault { injected[step.fault.kind, default: 0] += 1 }
            try await perform(step.fault)
        }
        try await pause(start + round.seconds - monotonicNow())
    }

    func note(_ words: String) {
        let file = open(ground.file("faults.log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        let line = Array("\(monotonicNow()) \(words)\n".utf8)
        _ = write(file, line, line.count)
        close(file)
    }

    // MARK: The bridge

    func start() throws {
        try daemon.start()
        note("start-bridge \(daemon.pid)")
    }

    /// A bridge that ended by itself is a fault of its own, but for one that could not begin for want of descriptors; the run
    /// goes on with a new one.
    private func lookAfterBridge() async throws {
        guard let exit = daemon.ended else { return }
        note("bridge-died \(daemon.pid) \(exit)")
        if !daemon.couldNotBegin { complaints.append("the bridge ended by itself with \(exit)") }
        try start()
    }

    private func killBridge() throws {
        let pid = daemon.pid
        daemon.killForGood()
        note("kill-bridge \(pid)")
        keepJournals(in: "deaths/\(pid)")
    }

    private func endBridge() async throws {
        let pid = daemon.pid
        wakeBridge()
        note("end-bridge \(pid)")
        let isReady = daemon.isReady
        let exit = try await daemon.stop()
        guard exit != 0, isReady || exit != -SIGTERM && !daemon.couldNotBegin else { return }
        complaints.append("the bridge was asked to end and ended with \(exit)")
    }

    /// One that is stopped answers nobody.
    private func wakeBridge() {
        kill(daemon.pid, SIGCONT)
        note("continue-bridge")
    }

    /// As they are between two lives, for the reckoning.
    func keepJournals(in folder: String) {
        mkdir(ground.file(folder), 0o755)
        for file in JournalFile.allCases where access(path(of: file), F_OK) == 0 {
            put(bytes(of: path(of: file)), at: ground.file("\(folder)/\(file.rawValue)"))
        }
    }

    private func path(of file: JournalFile) -> String {
        switch file {
        case .run, .runLog, .runTurns: "\(ground.runtime)/\(file.rawValue)"
        case .disk, .diskLog: "\(ground.file("state"))/\(file.rawValue)"
        }
    }

    // MARK: Each fault

    private func perform(_ fault: Fault) async throws {
        switch fault {
        case .killBridge:
            try killBridge()
            try start()
        case .endBridge:
            try await endBridge()
            try start()
        case .killHandler(let number): killHandler(number)
        case .stopBridge:
            note("stop-bridge")
            kill(daemon.pid, SIGSTOP)
        case .continueBridge: wakeBridge()
        case .mood(let who, let mood): set(mood, of: who)
        case .contend(let who): try contend(who)
        case .stopHandler(let who): try await tell("stop", who)
        case .startHandler(let who): try await tell("start", who)
        case .fill(let volume): fill(volume)
        case .makeRoom(let volume): makeRoom(volume)
        case .truncate(let file, let thousandths): try damage { self.truncate(file, thousandths) }
        case .flip(let file, let places): try damage { self.flip(file, places) }
        case .step(let seconds): step(seconds)
        case .fewDescriptors(let spare): limitDescriptors(spare)
        case .manyDescriptors: limitDescriptors(nil)
        case .noCgroups: limitCgroups("0")
        case .anyCgroups: limitCgroups("max")
        }
    }

    private func killHandler(_ number: Int) {
        let handlers = daemon.handlers
        guard !handlers.isEmpty else { return note("nobody") }
        let victim = handlers[number % handlers.count]
        note("kill-handler \(victim)")
        kill(victim, SIGKILL)
    }

    private func set(_ mood: Mood, of who: String) {
        note("mood \(who) \(mood.rawValue)")
        put(mood.rawValue, at: ground.file("heard/draft"))
        rename(ground.file("heard/draft"), ground.file("heard/mood-\(who)"))
    }

    /// - Parameter verb: `stop` or `start`; told before and after, because in between either may hold.
    private func tell(_ verb: String, _ who: String) async throws {
        wakeBridge()
        note("\(verb)-begins \(who)")
        let exit = try await daemon.tool(verb, who).exit
        note("\(verb)-done \(who) \(exit)")
    }

    // MARK: Locks

    private func contend(_ who: String) throws {
        waits += 1
        let file = ground.file("waits/\(waits)")
        let words = [programs.handler, "--contend", ground.file("heard/lock-\(who)")]
        waiters.append((try spawn(words, output: .file(file), talk: .file(file)), file))
        note("contend \(who)")
    }

    /// Who still waits after a rescue, a freeze and a kill waits for ever.
    func collectWaits() async throws {
        for waiter in waiters {
            let hasEnded = try await wait(8) { end(of: waiter.process) != nil }
            if !hasEnded { killAndReap(waiter.process) }
            note("waited \(hasEnded ? text(of: waiter.file) : "forever")".filter { $0 != "\n" })
        }
        waiters = []
    }

    // MARK: Room

    private func folder(of volume: Volume) -> String {
        switch volume {
        case .state: ground.file("state")
        case .runtime: ground.runtime
        }
    }

    private func fill(_ volume: Volume) {
        note("full \(volume.rawValue)")
        let file = open("\(folder(of: volume))/ballast", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        let chunk = [UInt8](repeating: 0, count: 4096)
        while write(file, chunk, chunk.count) == chunk.count {}
        close(file)
    }

    private func makeRoom(_ volume: Volume) {
        unlink("\(folder(of: volume))/ballast")
        note("room \(volume.rawValue)")
    }

    // MARK: Damage

    private func damage(_ body: () -> Void) throws {
        try killBridge()
        body()
        try start()
    }

    private func truncate(_ file: JournalFile, _ thousandths: Int) {
        let size = used(bytes(of: path(of: file)))
        Glibc.truncate(path(of: file), size * thousandths / 1000)
        note("damage \(file.rawValue) cut to \(size * thousandths / 1000) of \(size)")
    }

    private func flip(_ file: JournalFile, _ places: [Int]) {
        var content = bytes(of: path(of: file))
        guard content.contains(where: { $0 != 0 }) else { return note("damage \(file.rawValue) none") }
        let size = used(content)
        let offsets = places.map { $0 * size / 1_000_000 }
        for (offset, place) in zip(offsets, places) { content[offset] ^= 1 << UInt8(place % 8) }
        put(content, at: path(of: file), mode: 0o600)
        note("damage \(file.rawValue) flipped at \(offsets)")
    }

    /// Without the room that a log has taken and not used.
    private func used(_ content: [UInt8]) -> Int { (content.lastIndex { $0 != 0 } ?? -1) + 1 }

    // MARK: The clock, descriptors, cgroups

    private func step(_ seconds: Int) {
        note("step \(seconds)")
        programs.clock?.step(seconds)
    }

    private func limitDescriptors(_ spare: Int?) {
        let open = names(in: "/proc/\(daemon.pid)/fd").count
        note("descriptors \(spare.map { "\(open) and \($0)" } ?? "enough")")
        let soft = spare.map { open + $0 } ?? 1024
        _ = try? Child(["prlimit", "--pid=\(daemon.pid)", "--nofile=\(soft):"]).finish()
    }

    private func limitCgroups(_ most: String) {
        note("cgroups \(most)")
        put(most, at: "\(Machine.cgroup(ofDaemonAt: ground.runtime))/cgroup.max.descendants")
    }

    // MARK: Calm

    /// Everything is as it should be again, whatever the plan left.
    func calmDown() async throws {
        wakeBridge()
        for volume in [Volume.state, .runtime] { makeRoom(volume) }
        limitDescriptors(nil)
        limitCgroups("max")
        for who in Crew.moody { set(.good, of: who) }
        let isUp = try await wait(20) {
            // A start that had found no descriptor ends a little later than they are there again.
            try await lookAfterBridge()
            return try await daemon.owed() != nil
        }
        if !isUp { complaints.append("the bridge does not answer when all is calm") }
        for member in Crew.all { try await tell("start", member.id) }
    }
}
