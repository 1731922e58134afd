// Facts of the databases about the session before this one. Both contain the same facts, so losing one loses none. If
// both were full there is the file beside them.
import WakeModel

struct StartFacts {
    let disk: [String: String]
    var run: [String: String]
    let file: SequenceReservation.Contents?
    let damaged: Int

    init(disk: EventStore, run: EventStore?, file: SequenceReservation.Contents?) {
        let (disk, run) = (disk.facts(), run?.facts() ?? (values: [:], damaged: 0))
        (self.disk, self.run, self.file) = (disk.values, run.values, file)
        damaged = disk.damaged + run.damaged
    }

    var isFirstSession: Bool { disk["origin"] == nil && run["origin"] == nil }

    /// The last reserved number; nil where it is unknown.
    var reserved: UInt64? { numbers("reserved").max().map { max($0, file?.reserved ?? 0) } }

    /// The first number that only memory had, where memory was in use and the end was not clean.
    var firstInMemory: UInt64? { (numbers("ram") + [firstInFile].compactMap { $0 }).min() }

    /// The same, of a session that could not write it into the databases.
    private var firstInFile: UInt64? { file.flatMap { $0.firstInMemory > 0 ? $0.firstInMemory : nil } }

    /// No older event was pending when this was last written; 1 where that is unknown. Either database may have the newer value.
    func oldest(_ which: Durability) -> UInt64 { numbers(Self.oldestName(which)).min() ?? 1 }
    static func oldestName(_ which: Durability) -> String { "oldest." + which.rawValue }

    /// Set by a clean end: the newest number, and the oldest pending `run` number (0 for none). The disk's word counts where the
    /// run database is a new one, as after a reboot.
    var closed: (newest: UInt64, oldestRun: UInt64)? {
        // A later session that had no room could not clear the fact.
        guard firstInFile == nil else { return nil }
        guard let text = disk["closed"], run["boot"] == nil || run["closed"] == text else { return nil }
        return Self.pair(text)
    }

    /// A hole that was found at an earlier start and perhaps not reported.
    var unreported: ClosedRange<UInt64>? {
        guard let (first, last) = Self.pair(disk["untold"] ?? run["untold"] ?? ""), first <= last else { return nil }
        return first...last
    }

    private static func pair(_ text: String) -> (UInt64, UInt64)? {
        let numbers = text.split(separator: " ").compactMap { UInt64($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    private func numbers(_ name: String) -> [UInt64] { [disk[name], run[name]].compactMap { $0.flatMap(UInt64.init) } }
}
