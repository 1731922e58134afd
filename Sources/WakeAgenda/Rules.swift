public struct PollRule: Hashable, Sendable {}
public struct JobRule: Hashable, Sendable {}
