// Actions of kinds of events outside of the agenda: each is for the one executor of its kind.
import WakeModel

/// An action of one kind, such as a command to the holder of a socket.
public protocol TriggerAction: Hashable, Sendable {
    static var kind: TriggerKind { get }
}

/// An action of any kind.
public struct AgendaAction: Hashable, Sendable {
    public let value: any TriggerAction

    public init(_ value: some TriggerAction) { self.value = value }

    public static func == (left: AgendaAction, right: AgendaAction) -> Bool { left.value.equals(right.value) }
    public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

extension TriggerAction {
    fileprivate func equals(_ other: any TriggerAction) -> Bool { other as? Self == self }
}

extension AgendaEffect {
    public static func act(_ key: AgendaKey, _ action: some TriggerAction) -> AgendaEffect {
        .act(key, AgendaAction(action))
    }

    /// The action and its entry, where it is one of this type.
    public func action<Action: TriggerAction>(_ type: Action.Type = Action.self) -> (key: AgendaKey, action: Action)? {
        guard case .act(let key, let action) = self, let value = action.value as? Action else { return nil }
        return (key, value)
    }
}
