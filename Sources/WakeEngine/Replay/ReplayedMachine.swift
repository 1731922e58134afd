// The machine's operations in a trace: applied to the virtual clock and to the bridge, as a daemon observes them.
import WakeAgenda
import WakeCore
import WakeLoop
import WakeModel
import WakeTrace

/// A pause that the handlers are notified of, and given time for, before it happens.
struct PendingPause {
    enum Kind {
        case sleep(TimeSpan)
        case restart
        case reboot(TimeSpan)
    }

    var kind: Kind
    /// The line of the trace.
    var line: Int
    /// It happens then in any case.
    var goAt: Instant

    /// As systemd lets a service end.
    static let longestEnd = TimeSpan.seconds(90)
}

extension VirtualReplay {
    func apply(_ change: MachineOperation, of line: Int) throws(TraceError) {
        switch change {
        case .condition(let word, let isTrue): ground.world.set(try condition(word, line), isTrue)
        case .clock(let step):
            clock.setWall(by: step)
            lookForPart()
            turn.ingest(.announced(.time(step: step)))
            ground.world.clockChanged()
        case .synchronized(let isTrue):
            clock.isSynchronized = isTrue
            ground.world.clockChanged()
        case .zone(let name):
            guard ground.world.knows(zone: name) else { throw .unknownZone(name, line: line) }
            ground.world.setZone(name)
        case .sleep(let span):
            turn.ingest(.systemSleep(.preparing(within: SleepPatience.longest)))
            wait(for: .sleep(span), line, atMost: SleepPatience.longest + SleepPatience.reserve)
        case .restart: end(for: .restart, line)
        case .reboot(let span): end(for: .reboot(span), line)
        }
    }

    private func condition(_ word: String, _ line: Int) throws(TraceError) -> Condition {
        do throws(ProtocolFault) { return try Condition(word: word) } catch {
            throw TraceError(line: line, column: 1, reason: error.description)
        }
    }

    /// Handlers end in order.
    private func end(for kind: PendingPause.Kind, _ line: Int) {
        turn.ingest(.finish)
        wait(for: kind, line, atMost: PendingPause.longestEnd)
    }

    /// The rest of the trace waits until that is over.
    private func wait(for kind: PendingPause.Kind, _ line: Int, atMost patience: TimeSpan) {
        pause = PendingPause(kind: kind, line: line, goAt: clock.now().monotonic + patience)
    }

    func isReady(for pause: PendingPause, at now: Instant) -> Bool {
        guard now < pause.goAt else { return true }
        switch pause.kind {
        case .sleep: return turn.isReadyForSleep
        case .restart, .reboot: return turn.isQuiet
        }
    }

    func pass(_ pending: PendingPause) throws(TraceError) {
        pause = nil
        switch pending.kind {
        case .sleep(let span):
            clock.sleep(for: span)
            lookForPart()
            turn.ingest(.systemSleep(.over))
            ground.world.clockChanged()
        case .restart: try beginAnew(pending.line) {}
        case .reboot(let span):
            try beginAnew(pending.line) {
                // The trace goes on where it was, on a clock that begins again.
                traceStart = .zero - (clock.now().monotonic - traceStart)
                clock.reboot(after: span)
                lookForPart()
                ground.memory.forgetRun()
            }
        }
    }

    /// - Parameter meanwhile: what happens between the end of the bridge and its start.
    private func beginAnew(_ line: Int, _ meanwhile: () -> Void) throws(TraceError) {
        let manifests = bridge.manifests
        awakeBefore = awakeBefore + bridge.awake
        bridge.end()
        meanwhile()
        do { bridge = try ReplayedBridge(ground, after: bridge) } catch {
            throw TraceError(line: line, column: 1, reason: "the bridge cannot begin again: \(error)")
        }
        listen()
        let engine = bridge.engine
        engine.reportLosses { for manifest in manifests { engine.configure(manifest) } }
    }
}

extension TraceError {
    static func unknownZone(_ name: String, line: Int) -> TraceError {
        TraceError(
            line: line, column: 1,
            reason: "this machine has no time zone `\(name)`; install its time zones (tzdata), or correct the name")
    }
}
