public struct AlarmRule: Hashable, Sendable {}
