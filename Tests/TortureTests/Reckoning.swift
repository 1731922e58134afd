// The reckoning after a torture: what was heard against the trace, and what the journal still knows.
import Glibc
import TestBench
import Testing
import WakeJournal
import WakeModel

struct Reckoning {
    let heard: [Heard]
    private(set) var complaints: [String] = []

    init(_ heard: [Heard]) { self.heard = heard }

    private mutating func complain(_ sentence: String) {
        if complaints.count < 40 { complaints.append(sentence) }
    }

    // MARK: Every event

    /// Every line of the trace has one number, numbers have no holes, and each device's events come in the trace's order.
    mutating func compare(with trace: GeneratedTrace) {
        let highest = heard.map(\.sequence).max() ?? 0
        if highest != trace.count { complain("the highest number is \(highest), the trace has \(trace.count) events") }
        let missing = Set(1...max(1, trace.count)).subtracting(heard.map(\.sequence))
        if !missing.isEmpty {
            complain("\(missing.count) numbers were never delivered: \(missing.sorted().prefix(10))")
        }
        compareContents(with: trace)
    }

    /// Numbers may have holes here; what was heard must be the trace all the same, but for what gaps tell.
    mutating func compareContents(with trace: GeneratedTrace) {
        for (device, expected) in trace.expected {
            let events = byNumber.filter { $0.device == device && $0.kind != "gap" }
            if events.map(\.what) != expected {
                let place = zip(events, expected).prefix { $0.what == $1 }.count
                let found = events.dropFirst(place).prefix(3).map { "\($0.sequence) \($0.what)" }
                complain(
                    "\(device) differs from the trace at its event \(place) of \(expected.count): heard \(found), expected \(expected.dropFirst(place).prefix(3))"
                )
            }
        }
    }

    /// The first delivery of each number, by number.
    var byNumber: [Heard] {
        var seen: Set<Int> = []
        return heard.filter { seen.insert($0.sequence).inserted }.sorted { $0.sequence < $1.sequence }
    }

    // MARK: Order and words

    /// Within one process, and over the first deliveries of all, numbers of a device only rise.
    mutating func checkOrder() {
        struct Lane: Hashable {
            var process: Int32
            var device: String
        }
        var latest: [Lane: Int] = [:]
        var newest: [String: Int] = [:]
        var seen: Set<Int> = []
        for event in heard {
            let lane = Lane(process: event.process, device: event.device)
            if let before = latest[lane], before >= event.sequence {
                complain("process \(event.process) got \(event.sequence) of \(event.device) after \(before)")
            }
            latest[lane] = event.sequence
            guard seen.insert(event.sequence).inserted else { continue }
            if let before = newest[event.device], before > event.sequence {
                complain("\(event.sequence) of \(event.device) came first after \(before) had come")
            }
            newest[event.device] = event.sequence
        }
    }

    /// An event says the same each time, and its attempt rises each time.
    mutating func checkRepetitions() {
        var before: [Int: Heard] = [:]
        for event in heard {
            defer { before[event.sequence] = event }
            guard let earlier = before[event.sequence] else { continue }
            if earlier.what != event.what || earlier.device != event.device {
                complain("\(event.sequence) was \(earlier.what) and then \(event.what)")
            }
            if event.attempt <= earlier.attempt {
                complain("\(event.sequence) came with attempt \(event.attempt) after \(earlier.attempt)")
            }
        }
    }

    /// What a process had been given that died with its bridge, and not before it as the `victims` did, was in flight and says so
    /// when it comes again; unless a process between them had it that died before it could note it, as its attempt tells.
    mutating func checkRedelivered(besides victims: Set<Int32>) {
        var before: [Int: Heard] = [:]
        for event in heard {
            defer { before[event.sequence] = event }
            guard let earlier = before[event.sequence], earlier.daemon != event.daemon,
                event.attempt == earlier.attempt + 1, !victims.contains(earlier.process), !event.isRedelivered
            else { continue }
            complain("\(event.sequence) came again after the bridge had died, without redelivered")
        }
    }

    // MARK: Gaps

    /// Every number is heard or told; those of one device's gaps never overlap, and every device is told the same.
    /// Numbers have to be accounted for up to `reaches`, where something is known to have had them.
    mutating func checkGaps(deaths: Int, reaches: Int = 0) {
        var told: [String: [ClosedRange<Int>]] = [:]
        for event in byNumber where event.kind == "gap" {
            guard event.cause == "bridge-restart", let first = event.number("first_seq"),
                let last = event.number("last_seq"), first <= last
            else {
                complain("a gap that tells of no restart: \(event.content)")
                continue
            }
            if let other = told[event.device]?.first(where: { $0.overlaps(first...last) }) {
                complain("\(event.device) was told of \(first)...\(last) and of \(other)")
            }
            told[event.device, default: []].append(first...last)
        }
        let ranges = Set(told.values.map { $0.sorted { $0.lowerBound < $1.lowerBound } })
        if ranges.count > 1 { complain("devices were told differently: \(told)") }
        if let most = told.values.map(\.count).max(), most > deaths { complain("\(most) gaps for \(deaths) deaths") }
        checkAccounts(ranges.first ?? [], reaches)
    }

    private mutating func checkAccounts(_ ranges: [ClosedRange<Int>], _ reaches: Int) {
        let heard = Set(heard.map(\.sequence))
        let highest = max(heard.max() ?? 0, reaches)
        let silent = (1...max(1, highest)).filter { number in
            !heard.contains(number) && !ranges.contains { $0.contains(number) }
        }
        if !silent.isEmpty {
            complain("\(silent.count) numbers were neither heard nor told, from \(silent[0]); told: \(ranges)")
        }
    }

    var repetitions: Int { heard.count - Set(heard.map(\.sequence)).count }

    // MARK: The journal

    struct Ledger {
        var owed = 0
        var deadLetters = 0
        var next = 0
        /// Alarms, polls and jobs, by their names.
        var scheduled: [String] = []
    }

    /// The journal as the next start would find it. Only after the daemon's end.
    static func readJournal(of ground: Ground) throws -> Ledger {
        let settings = JournalSettings(runtimeDirectory: ground.runtime, stateDirectory: ground.file("state"))
        let boot = lines(of: "/proc/sys/kernel/random/boot_id").first ?? ""
        let journal = try Journal(opening: settings, bootID: String(boot))
        let recovery = journal.recover()
        let owed = recovery.pending.values.reduce(0) { $0 + $1.count }
        let letters = journal.deadLetters().count
        // A row without a name holds what its handler's alarms know of the clocks.
        let scheduled = journal.entries().map(\.key.id).filter { !$0.isEmpty }
        journal.close(clean: true)
        return Ledger(
            owed: owed, deadLetters: letters, next: Int(recovery.next.rawValue), scheduled: scheduled.sorted())
    }
}
