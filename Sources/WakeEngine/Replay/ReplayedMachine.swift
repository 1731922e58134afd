// What the machine and handlers do in a trace: done to the virtual clock, and told to the core as a daemon tells it.
import WakeCore
import WakeLoop
import WakeModel
import WakeTrace

/// The machine is about to sleep, and handlers are told and frozen first.
struct PendingSleep {
    var length: TimeSpan
    /// It sleeps then in any case.
    var letGoAt: Instant
}

// The machine.
extension VirtualReplay {
    func apply(_ change: MachineOperation, of line: Int) throws(TraceError) {
        switch change {
        case .condition: try setCondition(line)
        case .clock(let step): setWallClock(by: step)
        case .synchronized(let isTrue): clock.isSynchronized = isTrue
        case .zone: try setZone(line)
        case .sleep(let span): prepareSleep(of: span)
        case .restart: try restartBridge(line)
        case .reboot: try reboot(line)
        }
    }

    private func setWallClock(by step: TimeSpan) {
        clock.setWall(by: step)
        turn.ingest(.announced(.time(step: step)))
    }

    /// What follows in the trace waits for the resume.
    private func prepareSleep(of span: TimeSpan) {
        let patience = SleepPatience.longest
        sleep = PendingSleep(
            length: span, letGoAt: clock.now().monotonic + patience + SleepPatience.reserve)
        turn.ingest(.systemSleep(.preparing(within: patience)))
    }

    func sleepThrough(_ pending: PendingSleep) {
        sleep = nil
        clock.sleep(for: pending.length)
        turn.ingest(.systemSleep(.over))
    }

    private func setCondition(_ line: Int) throws(TraceError) { throw unplayable("machine condition", line) }
    private func setZone(_ line: Int) throws(TraceError) { throw unplayable("machine zone", line) }
    private func restartBridge(_ line: Int) throws(TraceError) { throw unplayable("machine restart", line) }
    private func reboot(_ line: Int) throws(TraceError) { throw unplayable("machine reboot", line) }

    private func unplayable(_ words: String, _ line: Int) -> TraceError {
        TraceError(line: line, column: 1, reason: "`\(words)` cannot be replayed yet; take the line out of the trace")
    }
}

// Handlers.
extension VirtualReplay {
    func apply(_ deed: HandlerOperation, to name: String, of line: Int) throws(TraceError) {
        guard let handler = engine.catalog.handlers.first(where: { $0.value.id == name })?.key else {
            let known = engine.catalog.handlers.values.map { "`\($0.id)`" }.sorted().joined(separator: ", ")
            let reason = "this replay has no handler `\(name)`; it has \(known)"
            throw TraceError(line: line, column: 1, reason: reason)
        }
        switch deed {
        case .say(let text): say(text, as: handler)
        case .attach: turn.ingest(.operated(handler, .attach))
        case .detach: turn.ingest(.operated(handler, .detach))
        case .stop: turn.ingest(.operated(handler, .stop))
        case .start: turn.ingest(.operated(handler, .start))
        }
    }

    /// Beside what the model says by itself. Of a handler without a process the core hears nothing.
    private func say(_ text: String, as handler: HandlerID) {
        guard let epoch = turn.handlerStatus(of: handler)?.epoch else { return }
        do throws(ProtocolFault) {
            turn.ingest(.reply(handler, epoch, try ReplyLine.parse(Array(text.utf8)[...])))
        } catch {
            turn.ingest(.fault(handler, epoch, error))
        }
    }
}
