// Observers of a turn: they receive every decision, every event, and the turn's end.
import WakeAgenda
import WakeCore
import WakeModel

/// Sees every decision of the core, as it is made.
package protocol DecisionListener: AnyObject {
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp)
    /// Receives a decision of the agenda.
    func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp)
}

extension DecisionListener {
    package func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp) {}
}

/// Sees every event, as it is raised: with its number where a handler is to get it, and without one where none is, for lack of a
/// subscription or by its policy.
package protocol EventSink: AnyObject {
    func saw(_ event: DeviceEvent, as sequence: Sequence?)
}

/// How a manifest with one instance for each device changed: this includes instances that are still to come.
package enum TemplateChange {
    case configured, removed, stopped, started
}

/// Hears all that happens to the turn from outside, before anything follows from it.
package protocol InputListener: AnyObject {
    func hear(_ input: Input, at stamp: Stamp)
    func hear(_ input: AgendaInput, at stamp: Stamp)
    func hear(_ change: TemplateChange, of manifest: HandlerManifest, at stamp: Stamp)
}

extension InputListener {
    package func hear(_ change: TemplateChange, of manifest: HandlerManifest, at stamp: Stamp) {}
}

/// Hears each condition of the machine as it is announced to the handlers.
package protocol NoticeListener: AnyObject {
    func hear(_ notice: Notice)
}

/// Is called after every turn, when all is committed and performed.
package protocol TurnObserver: AnyObject {
    func turnEnded()
    /// Whether a person is attached to any handler.
    func attachmentChanged(_ isAttached: Bool)
    /// Instances of manifests began, were renamed or ended; of the ended ones the processes may still be there.
    func instancesChanged(ended: [HandlerID])
    /// The wall clock was set, or a zone that was asked for has other rules.
    func clockChanged(_ change: ClockWatch.Change)
}

extension TurnObserver {
    package func turnEnded() {}
    package func attachmentChanged(_ isAttached: Bool) {}
    package func instancesChanged(ended: [HandlerID]) {}
    package func clockChanged(_ change: ClockWatch.Change) {}
}

/// Performs the actions of one kind of event, in a bridge that runs or in a replay, after their cause is committed.
package protocol TriggerExecutor: TurnObserver {
    associatedtype Action: TriggerAction
    func perform(_ action: Action, of key: AgendaKey)
}

extension TriggerExecutor {
    fileprivate func perform(any action: AgendaAction, of key: AgendaKey) {
        if let action = action.value as? Action { perform(action, of: key) }
    }
}

/// Watches the machine for the agenda: its conditions, its zones, and when it has to wake.
package protocol MachineExecutor: TurnObserver {
    func perform(_ effect: AgendaEffect)
}

/// A list of each. The turn owns what it calls amid its work; observers may end before it.
package struct TurnListeners {
    private struct WeakObserver { weak var target: (any TurnObserver)? }

    private var decisions: [any DecisionListener] = []
    private var sinks: [any EventSink] = []
    private var inputs: [any InputListener] = []
    private var notices: [any NoticeListener] = []
    private var observers: [WeakObserver] = []
    private var executors: [String: WeakObserver] = [:]
    private var machine: WeakObserver?

    package mutating func add(_ listener: any DecisionListener) { decisions.append(listener) }
    package mutating func add(_ sink: any EventSink) { sinks.append(sink) }
    package mutating func add(_ listener: any InputListener) { inputs.append(listener) }
    package mutating func add(_ listener: any NoticeListener) { notices.append(listener) }
    package mutating func observe(_ observer: any TurnObserver) { observers.append(WeakObserver(target: observer)) }

    /// Its kind has no other executor.
    package mutating func register<Executor: TriggerExecutor>(_ executor: Executor) {
        executors[Executor.Action.kind.word] = WeakObserver(target: executor)
    }

    package mutating func register(machine: any MachineExecutor) { self.machine = WeakObserver(target: machine) }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        for listener in decisions { listener.hear(decision, of: handler, at: stamp) }
    }

    func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp) {
        for listener in decisions { listener.hear(decision, of: handler, at: stamp) }
    }

    func hear(_ input: Input, at stamp: Stamp) { for listener in inputs { listener.hear(input, at: stamp) } }

    func hear(_ input: AgendaInput, at stamp: Stamp) { for listener in inputs { listener.hear(input, at: stamp) } }

    func hear(_ change: TemplateChange, of manifest: HandlerManifest, at stamp: Stamp) {
        for listener in inputs { listener.hear(change, of: manifest, at: stamp) }
    }

    func saw(_ event: DeviceEvent, as sequence: Sequence?) { for sink in sinks { sink.saw(event, as: sequence) } }

    func hear(_ notice: Notice) { for listener in notices { listener.hear(notice) } }

    func perform(_ effect: AgendaEffect) {
        if case .act(let key, let action) = effect {
            (executors[key.source.rawValue]?.target as? any TriggerExecutor)?.perform(any: action, of: key)
        } else {
            (machine?.target as? any MachineExecutor)?.perform(effect)
        }
    }

    func attachmentChanged(_ isAttached: Bool) {
        for observer in observers { observer.target?.attachmentChanged(isAttached) }
    }

    func clockChanged(_ change: ClockWatch.Change) {
        for observer in observers { observer.target?.clockChanged(change) }
    }

    func instancesChanged(ended: [HandlerID]) {
        for observer in observers { observer.target?.instancesChanged(ended: ended) }
    }

    /// By index: to iterate would copy each weak reference.
    func turnEnded() { for index in observers.indices { observers[index].target?.turnEnded() } }
}
