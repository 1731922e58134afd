// The question whether a message came as it was sent, which framing asks about bytes that look like a message.

/// Knows the check of one channel's messages.
public protocol MessageJudge: Hashable, Sendable {
    /// Whether its check is missing or wrong. A message that has no check is not damaged.
    func isDamaged(_ message: [UInt8]) -> Bool
}

/// A judge as a value. Plans that hold equal ones are equal.
public struct MessageTrial: Hashable, Sendable {
    /// A reference, so that plans stay small and are copied cheaply.
    private final class Bench: Sendable {
        let judge: any MessageJudge
        init(_ judge: any MessageJudge) { self.judge = judge }
    }

    private let bench: Bench

    public init(_ judge: some MessageJudge) { bench = Bench(judge) }

    public func isDamaged(_ message: [UInt8]) -> Bool { bench.judge.isDamaged(message) }

    public static func == (first: MessageTrial, second: MessageTrial) -> Bool {
        AnyHashable(first.bench.judge) == AnyHashable(second.bench.judge)
    }

    public func hash(into hasher: inout Hasher) { AnyHashable(bench.judge).hash(into: &hasher) }
}
