// How a turn lets the core and the agenda answer each other, until both are quiet, before it ends with one commit.
import WakeAgenda
import WakeCore
import WakeModel

extension Turn {
    func configure(_ handler: HandlerID, _ plan: AgendaPlan) {
        // Before its manifest lets anything be raised: it may be stopped.
        situate(handler)
        agenda.configure(handler, plan, at: clock.stamp())
        situate(handler)
        schedule(.tick)
    }

    func dismiss(_ handler: HandlerID) {
        agenda.remove(handler)
        schedule(.tick)
    }

    /// Entries of handlers without a manifest are removed. Entries whose handler's manifest cannot be read wait for
    /// it.
    /// - Parameter isThere: whether there is a manifest of that name.
    func settleUnread(_ isThere: (String) -> Bool) {
        for handler in agenda.unreadHandlers {
            if let name = journal.handlerName(of: handler), isThere(name) {
                schedule(.situated(handler, .unread))
            } else {
                dismiss(handler)
            }
        }
    }

    /// Data came through a socket of the handler's manifest: its handler may wait for that, as for a device's.
    package func hearTraffic(ofSocket name: String, of handler: HandlerID) {
        let stamp = clock.stamp()
        guard agenda.isConcerned(handler), agenda.isNews(.socket(handler, name), at: stamp) else { return }
        schedule(.traffic(.socket(handler, name)))
    }

    /// Passes on to the agenda the part of an input that concerns it.
    func relay(_ input: Input, at stamp: Stamp) {
        switch input {
        case .tick: if agenda.isDue(at: stamp) { agenda.receive(.tick) }
        case .operated(let handler, let verb):
            situate(handler)
            if verb == .attach || verb == .detach { listeners.attachmentChanged(ask { $0.hasAttached }) }
        case .finish: agenda.receive(.ending)
        case .event(let event): if case .data = event.kind { agenda.hearTraffic(of: event.origin, at: stamp) }
        case .systemSleep(.preparing): agenda.receive(.sleeping(true))
        case .systemSleep(.over): agenda.receive(.sleeping(false))
        case .device, .entry, .configure, .remove, .recovered, .lost, .missed, .reply, .fault, .throttled, .misdirected,
            .ordered,
            .written, .given, .launchFailed, .suspended, .locksInspected, .listensAsleep, .answered, .exited, .emptied,
            .memory, .thermal, .power, .announced, .notified, .shed, .revived, .withdraw, .recall, .release, .gate:
            break
        }
    }

    func relay(_ decision: Decision, of handler: HandlerID) {
        switch decision {
        case .moved(_, let state, _): follow(handler, to: state)
        // Some holds follow the move.
        case .held: situate(handler)
        default: break
        }
    }

    private func follow(_ handler: HandlerID, to state: HandlerState) {
        situate(handler)
        guard state == .active, agenda.isPolled(handler) else { return }
        agenda.recordWake(of: handler, processorTime: executor.processorTime(of: handler))
    }

    /// Only polls go by it, and to read it takes the kernel's time.
    func processorTime(usedBy handler: HandlerID) -> TimeSpan {
        guard agenda.isPolled(handler) else { return .zero }
        return agenda.used(executor.processorTime(of: handler), by: handler)
    }

    /// Tells the agenda what the handler can do with an occasion now.
    func situate(_ handler: HandlerID) {
        let now = clock.now().boottime
        guard agenda.isConcerned(handler), let posture = ask({ $0.posture(of: handler, at: now) }) else { return }
        agenda.receive(.situated(handler, HandlerSituation(posture)))
    }

    /// Rounds of answers: a round is what the agenda asks for and what the core makes of it. Eight are more than any chain of
    /// causes has; what is left then waits for the next turn, so that a fault in either cannot hold the other handlers up.
    func settleAgenda(at stamp: Stamp) {
        var rounds = 0
        while agenda.hasInputs, rounds < 8 {
            rounds += 1
            for effect in agenda.step(at: stamp) { apply(effect, at: stamp) }
        }
        if agenda.hasInputs { loop?.requestTurn() }
    }

    private func apply(_ effect: AgendaEffect, at stamp: Stamp) {
        switch effect {
        case .raise(let key, let occasion): raise(occasion, of: key, isAuthenticated: true, at: stamp)
        case .report(let key, let occasion, let isAuthenticated):
            raise(occasion, of: key, isAuthenticated: isAuthenticated, at: stamp)
        case .withdraw(let handler, let sequence): stepCore(.withdraw(handler, sequence, .condition), at: stamp)
        case .press(let handler, let sequence, let reason):
            stepCore(.withdraw(handler, sequence, reason), at: stamp)
        case .recall(let handler, let sequence): stepCore(.recall(handler, sequence), at: stamp)
        case .release(let handler, let sequence): stepCore(.release(handler, sequence), at: stamp)
        case .answer(let handler, let epoch, let answer, let reference):
            stepCore(.answered(handler, epoch, ref: reference, answer.notice(reference)), at: stamp)
        case .notify(let handler, let notice): stepCore(.notified(handler, notice), at: stamp)
        case .store(let row): agenda.keep(row)
        case .erase(let key): agenda.erase(key)
        case .gate(let handler, let isOpen): stepCore(.gate(handler, isOpen: isOpen), at: stamp)
        case .lose(let key, let gap): lose(gap, of: key, at: stamp)
        case .open, .close, .readZone, .leaveZone, .wakeMachine, .act: agenda.hold(effect)
        case .restart(let handler): stepCore(.operated(handler, .restart), at: stamp)
        case .decision(let handler, let decision): listeners.hear(decision, of: handler, at: stamp)
        }
    }

    private func lose(_ gap: Gap, of key: AgendaKey, at stamp: Stamp) {
        stepCore(.missed(key.handler, introduced(key, at: stamp), gap), at: stamp)
    }

    /// The origin of the entry, which the core knows the owner of.
    private func introduced(_ key: AgendaKey, at stamp: Stamp) -> EventOrigin {
        let (origin, isNew) = agenda.origin(of: key)
        if isNew { stepCore(.entry(origin, owner: key.handler), at: stamp) }
        return origin
    }

    private func raise(_ occasion: Occasion, of key: AgendaKey, isAuthenticated: Bool, at stamp: Stamp) {
        let origin = introduced(key, at: stamp)
        let event = DeviceEvent(
            origin: origin, kind: .occasion(occasion), stamp: stamp, isAuthenticated: isAuthenticated)
        agenda.raise(key) { stepCore(.event(event), at: stamp) }
    }
}

extension HandlerSituation {
    fileprivate init(_ posture: HandlerPosture) {
        if posture.isBarred {
            self = .stopped
        } else if posture.state == .quarantined {
            self = .quarantined
        } else if let until = posture.heldUntil {
            self = .held(until: until)
        } else if posture.isAttached {
            self = .attached
        } else {
            switch posture.state {
            case .stopped: self = .stopped
            case .quarantined: self = .quarantined
            case .active, .expiring: self = .awake
            case .idle, .launching, .suspending, .suspended, .terminating, .held: self = .asleep
            }
        }
    }
}
