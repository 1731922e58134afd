// The end of a process: asked, killed or found dead, and followed until nothing of it is left.
import WakeModel

extension HandlerLifecycle {
    /// A leaf that is still populated so long after its kill is given up.
    static let abandonAfter = TimeSpan.seconds(5)
    /// How long others of a leaf may outlive its main process.
    static let orphanPatience = TimeSpan.seconds(1)

    /// How long a handler that was given end-of-file may finish what it is at before it is sent SIGTERM.
    static let endOfFilePatience = TimeSpan.seconds(1)

    mutating func kill(_ reason: EndReason, _ step: inout Step) {
        var termination = Termination(reason: reason, killAt: nil, abandonAt: step.now + Self.abandonAfter)
        if case .terminating(let earlier) = phase {
            guard earlier.killAt != nil else { return }
            termination.reason = earlier.reason
            termination.exit = earlier.exit
            termination.isEmpty = earlier.isEmpty
        }
        move(to: .terminating(termination), because: reason.written, &step)
        step.emit(.kill(id, epoch))
    }

    /// Thaw, SIGTERM, and the kill after ``HandlerTimers/terminate``.
    mutating func requestTermination(_ reason: EndReason, _ step: inout Step) {
        let termination = Termination(reason: reason, killAt: step.now + timers.terminate)
        tell(.terminating(reason: reason.written, within: timers.terminate), &step)
        move(to: .terminating(termination), because: reason.written, &step)
        step.emit(.thaw(id, epoch))
        step.emit(.requestTermination(id, epoch))
    }

    /// A resident handler ends at end-of-file by itself, and may write down what it has counted; SIGTERM at once would
    /// end most programs before they have read that far.
    mutating func endInput(_ step: inout Step) {
        let askAt = step.now + Self.endOfFilePatience
        let termination = Termination(reason: .finished, askAt: askAt, killAt: askAt + timers.terminate)
        tell(.terminating(reason: EndReason.finished.written, within: timeToEnd), &step)
        step.emit(.closeInput(id, epoch))
        move(to: .terminating(termination), because: EndReason.finished.written, &step)
        step.emit(.thaw(id, epoch))
    }

    /// From the end of its input to the kill.
    var timeToEnd: TimeSpan { Self.endOfFilePatience + timers.terminate }

    mutating func advanceTerminating(_ termination: Termination, _ step: inout Step) -> Bool {
        if termination.isEmpty, termination.exit != nil {
            conclude(termination, &step)
            return true
        }
        if let askAt = termination.askAt, step.now >= askAt {
            var asked = termination
            asked.askAt = nil
            phase = .terminating(asked)
            step.emit(.requestTermination(id, epoch))
            return true
        }
        if let killAt = termination.killAt, step.now >= killAt {
            kill(termination.reason, &step)
            return false
        }
        guard let abandonAt = termination.abandonAt, step.now >= abandonAt else { return false }
        conclude(termination, &step)
        return true
    }

    /// The main process has ended; others of its leaf may be left.
    mutating func noteExit(_ status: ExitStatus, _ step: inout Step) {
        switch phase {
        case .terminating(var termination):
            guard termination.exit == nil else { return }
            termination.exit = status
            termination.askAt = nil
            termination.killAt = termination.killAt.map { min($0, step.now + patienceWithOrphans) }
            phase = .terminating(termination)
        case .suspended:
            kill(.exit(status), &step)
            noteExit(status, &step)
        case .launching, .active, .expiring, .suspending:
            var termination = Termination(reason: .exit(status), killAt: step.now + patienceWithOrphans)
            termination.exit = status
            if case .suspending = phase { step.emit(.thaw(id, epoch)) }
            move(to: .terminating(termination), because: termination.reason.written, &step)
        case .stopped, .idle, .quarantined: break
        }
    }

    private var patienceWithOrphans: TimeSpan {
        settings.allowsBackgroundChildren ? timers.budget + timers.grace : Self.orphanPatience
    }

    mutating func noteEmpty() {
        guard case .terminating(var termination) = phase else { return }
        termination.isEmpty = true
        phase = .terminating(termination)
    }

    /// There is no process, so nothing more of it will be heard.
    mutating func noteLaunchFailure(_ reason: EndReason, _ step: inout Step) {
        guard hasProcess else { return }
        step.emit(.discard(id, epoch, isEmpty: true))
        // It was not given what it was wanted for.
        if reason.isExhaustion, !isBarred, wantedAtLaunch != .attach || isAttached { wanted = wanted ?? wantedAtLaunch }
        afterEnd(reason, &step)
    }

    private mutating func conclude(_ termination: Termination, _ step: inout Step) {
        step.emit(.discard(id, epoch, isEmpty: termination.isEmpty))
        guard isOneshot, let exit = termination.exit else { return afterEnd(termination.reason, &step) }
        answerByExit(exit, &step)
        // A deadline that the program met with an answer is no failure.
        let isAnswer = termination.reason == .deadline && (exit == .exited(code: 0) || exit == .exited(code: 75))
        afterEnd(isAnswer ? .exit(exit) : termination.reason, &step)
    }

    /// A oneshot answers with its exit code: 0 acknowledges the rest, 75 (EX_TEMPFAIL) refuses it.
    private mutating func answerByExit(_ exit: ExitStatus, _ step: inout Step) {
        switch exit {
        case .exited(code: 0):
            if let last = batch.events.last { acknowledge(last.sequence, nil, &step) }
        case .exited(code: 75):
            while let oldest = batch.oldestOpen { refuse(oldest.sequence, after: nil, nil, &step) }
        case .exited, .signalled: break
        }
    }
}
