public struct AlarmRule: Hashable, Sendable {}
public struct PollRule: Hashable, Sendable {}
public struct JobRule: Hashable, Sendable {}
