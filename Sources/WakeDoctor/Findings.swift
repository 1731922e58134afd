// The findings that follow from the facts: the worst first, and among equals a cause before its effects.

public struct Findings: Hashable, Sendable {
    public let all: [Finding]

    public init(_ facts: Facts) {
        let found =
            facts.ofBus + facts.ofRadio + facts.ofAdapters + facts.ofBridge + facts.ofAccessories + facts.ofClock
        all = Finding.Level.allCases.reversed().flatMap { level in found.filter { $0.level == level } }
    }

    public var worst: Finding.Level { all.map(\.level).max() ?? .ok }
}

extension Facts {
    fileprivate var ofClock: [Finding] {
        guard !isClockSet else { return [] }
        return [
            Finding(
                .note, .clockUnset, "the wall clock was not set since boot",
                "Events carry times of before that, and say so with clock_synced false.",
                .run("sudo timedatectl set-ntp true"))
        ]
    }
}
