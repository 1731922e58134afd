// What the databases said of the life before this one. Both hold the same facts, so that one that is lost or was full takes none with it.
import WakeModel

struct StartFacts {
    var disk: [String: String]
    var run: [String: String]
    /// Facts that were not what was written.
    let damaged: Int

    init(disk: EventStore, run: EventStore?) {
        let (disk, run) = (disk.facts(), run?.facts() ?? (values: [:], damaged: 0))
        (self.disk, self.run) = (disk.values, run.values)
        damaged = disk.damaged + run.damaged
    }

    /// Something was journaled before.
    var isFirstLife: Bool { disk["origin"] == nil && run["origin"] == nil }

    /// The last number set aside; nil where it cannot be known.
    var reserved: UInt64? { highest("reserved") }

    /// The first number that only memory had, where memory was in use and the end was not in order.
    var firstInMemory: UInt64? { numbers("ram").min() }

    /// No event older than this was owed when it was last written down; 1 where that is not known.
    func oldest(_ which: Durability) -> UInt64 { highest(Self.oldestName(which)) ?? 1 }
    static func oldestName(_ which: Durability) -> String { "oldest." + which.rawValue }

    /// Set by an end in order: the newest number, and the oldest `run` number still owed (0 for none).
    var closed: (newest: UInt64, oldestRun: UInt64)? {
        guard let words = disk["closed"], run.isEmpty || run["closed"] == words else { return nil }
        let numbers = words.split(separator: " ").compactMap { UInt64($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    /// A hole that was found at an earlier start, and perhaps never told.
    var untold: ClosedRange<UInt64>? {
        let words = (disk["untold"] ?? run["untold"] ?? "").split(separator: " ").compactMap { UInt64($0) }
        return words.count == 2 && words[0] <= words[1] ? words[0]...words[1] : nil
    }

    private func highest(_ name: String) -> UInt64? { numbers(name).max() }
    private func numbers(_ name: String) -> [UInt64] { [disk[name], run[name]].compactMap { $0.flatMap(UInt64.init) } }
}
