// What the databases said of the life before this one. Both hold the same facts, so that one that is lost or was full takes none
// with it, and where both were full there is the file beside them.
import WakeModel

struct StartFacts {
    var disk: [String: String]
    var run: [String: String]
    let file: NumberFile.Contents?
    /// Facts that were not what was written.
    let damaged: Int

    init(disk: EventStore, run: EventStore?, file: NumberFile.Contents?) {
        let (disk, run) = (disk.facts(), run?.facts() ?? (values: [:], damaged: 0))
        (self.disk, self.run, self.file) = (disk.values, run.values, file)
        damaged = disk.damaged + run.damaged
    }

    /// Something was journaled before.
    var isFirstLife: Bool { disk["origin"] == nil && run["origin"] == nil }

    /// The last number set aside; nil where it cannot be known.
    var reserved: UInt64? { highest("reserved").map { max($0, file?.reserved ?? 0) } }

    /// The first number that only memory had, where memory was in use and the end was not in order.
    var firstInMemory: UInt64? { (numbers("ram") + [firstUnkept].compactMap { $0 }).min() }

    /// The same, of a life that could not write that into the databases.
    private var firstUnkept: UInt64? { file.flatMap { $0.firstUnkept > 0 ? $0.firstUnkept : nil } }

    /// No event older than this was owed when it was last written down; 1 where that is not known. Which of two databases wrote
    /// it last is not known either.
    func oldest(_ which: Durability) -> UInt64 { numbers(Self.oldestName(which)).min() ?? 1 }
    static func oldestName(_ which: Durability) -> String { "oldest." + which.rawValue }

    /// A run database that was begun anew, as after a reboot, says nothing against the disk's word.
    /// Set by an end in order: the newest number, and the oldest `run` number still owed (0 for none).
    var closed: (newest: UInt64, oldestRun: UInt64)? {
        // That could not be taken back by who began when there was no room.
        guard firstUnkept == nil else { return nil }
        guard let words = disk["closed"], run["boot"] == nil || run["closed"] == words else { return nil }
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
