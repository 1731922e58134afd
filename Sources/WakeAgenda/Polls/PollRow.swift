// A poll as its row in the database: written and read here alone.
import WakeModel

extension PollEntry {
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            BootAnchor(step, zero: assumedZero).write(into: &writer)
            writer.field("base_ns", base.nanoseconds)
            writer.field("due_ns", due.nanoseconds)
            writer.field("raised_ns", raisedAt.nanoseconds)
            switch order {
            case .never: writer.field("never", true)
            case .floor(let floor): writer.field("floor_ns", floor.nanoseconds)
            case nil: break
            }
            pace.write(into: &writer)
            hours.write(into: &writer)
            if let sequence = lending.sequence {
                writer.field("seq", sequence.rawValue)
                writer.field("relied", lending.relied.map(\.word))
            }
            if !until.isEmpty { writer.field("until", until.map(\.word)) }
            if handBacks > 0 { writer.field("handed_back", handBacks) }
            if isReturned { writer.field("returned", true) }
            if isOperated { writer.field("operated", true) }
            writer.field("since_us", waitingSince.microseconds)
            history.write(into: &writer)
        }
        return AgendaRow(key: key, value: value)
    }

    /// The entry, and whether its instants are others in this boot; nil where the row cannot be read.
    static func read(_ row: AgendaRow, _ step: AgendaStep) -> (entry: PollEntry, isMoved: Bool)? {
        guard let value = try? JSONValue(parsing: row.value), let anchor = BootAnchor(value),
            var entry = PollEntry(value, row.key)
        else { return nil }
        let moved = anchor.shift(to: step)
        entry.shift(by: moved.by)
        entry.assumedZero = moved.zero
        return (entry, anchor.bootID != step.bootID)
    }

    /// Its rule comes with the manifest.
    private init?(_ value: JSONValue, _ key: AgendaKey) {
        guard let base = value.instant("base_ns"), let due = value.instant("due_ns"),
            let raised = value.instant("raised_ns"), let pace = PollPace(value), let hours = PollHours(value),
            let since = value.bounded("since_us"), let relied = value.conditions("relied", of: key.handler),
            let until = value.conditions("until", of: key.handler)
        else { return nil }
        self.init(
            key: key, pace: pace, base: base, due: due, raisedAt: raised,
            waitingSince: WallTime(microseconds: since))
        if value.flag("never") {
            order = .never
        } else if let floor = value.span("floor_ns"), floor >= PollRule.shortestInterval {
            order = .floor(floor)
        }
        if let number = value.count("seq") {
            lending = Lending(.raised(Sequence(UInt64(number))), relyingOn: relied)
        }
        (self.hours, self.until, handBacks) = (hours, until, value.count("handed_back") ?? 0)
        (isReturned, isOperated) = (value.flag("returned"), value.flag("operated"))
        history = ChangeHistory(value)
    }
}

extension PollPace {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("interval_ms", interval.wholeMilliseconds)
        if let last { writer.field("last", last.rawValue) }
        writer.field("awake_ms", meanAwake.wholeMilliseconds)
        writer.field("cpu_ms", meanCPU.wholeMilliseconds)
    }

    fileprivate init?(_ value: JSONValue) {
        guard let interval = value.count("interval_ms"), interval > 0, let awake = value.count("awake_ms"),
            let cpu = value.count("cpu_ms")
        else { return nil }
        self.init(
            interval: .milliseconds(interval), last: value["last"]?.string.flatMap { PollOutcome(rawValue: $0) },
            meanAwake: .milliseconds(awake), meanCPU: .milliseconds(cpu))
    }
}

extension PollHours {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.list("hours", bins.sorted { $0.key < $1.key }) { writer, hour in
            writer.beginArray()
            for number in [hour.key, hour.value.polls, hour.value.useful, hour.value.weeks, hour.value.week] {
                writer.integer(number)
            }
            writer.endArray()
        }
    }

    fileprivate init?(_ value: JSONValue) {
        var bins: [Int64: Bin] = [:]
        for hour in value["hours"]?.array ?? [] {
            let numbers = (hour.array ?? []).compactMap(\.integer)
            guard numbers.count == 5, (0..<Self.count).contains(numbers[0]),
                numbers[1...3].allSatisfy({ (0...1 << 40).contains($0) }), numbers[4].magnitude < 1 << 32
            else { return nil }
            bins[numbers[0]] = Bin(polls: numbers[1], useful: numbers[2], weeks: numbers[3], week: numbers[4])
        }
        self.init(bins: bins)
    }
}
