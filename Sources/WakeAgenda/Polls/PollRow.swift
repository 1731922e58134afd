// A poll as its row in the database: written and read here alone.
import WakeModel

extension PollEntry {
    static let shape = RowShape<PollEntry>([
        .required("base_ns", \.base), .required("due_ns", \.due), .required("raised_ns", \.raisedAt),
        .part(\.order), .part(\.pace), .part(\.hours), .optional("seq", \.delivery.sequence),
        .optional("relied", \.delivery.storedReliance), .conditions("until", \.until),
        .count("handed_back", \.handBacks), .flag("returned", \.isReturned), .flag("operated", \.isOperated),
        .required("since_us", \.waitingSince), .part(\.history),
    ])
}

extension PollOrder: RowPart {
    func write(into writer: inout JSONWriter) {
        switch self {
        case .never: writer.field("never", true)
        case .floor(let floor): writer.field("floor_ns", floor.nanoseconds)
        }
    }

    init?(_ row: JSONValue) {
        if row.flag("never") {
            self = .never
        } else if let floor = row.span("floor_ns"), floor >= PollRule.shortestInterval {
            self = .floor(floor)
        } else {
            return nil
        }
    }
}

extension PollPace: RowPart {
    func write(into writer: inout JSONWriter) {
        writer.field("interval_ms", interval.wholeMilliseconds)
        if let last { writer.field("last", last.rawValue) }
        writer.field("awake_ms", meanAwake.wholeMilliseconds)
        writer.field("cpu_ms", meanCPU.wholeMilliseconds)
    }

    init?(_ value: JSONValue) {
        guard let interval = value.count("interval_ms"), interval > 0, let awake = value.count("awake_ms"),
            let cpu = value.count("cpu_ms")
        else { return nil }
        self.init(
            interval: .milliseconds(interval), last: value["last"]?.string.flatMap { PollOutcome(rawValue: $0) },
            meanAwake: .milliseconds(awake), meanCPU: .milliseconds(cpu))
    }
}

extension PollHours: RowPart {
    func write(into writer: inout JSONWriter) {
        writer.list("hours", bins.sorted { $0.key < $1.key }) { writer, hour in
            writer.beginArray()
            for number in [hour.key, hour.value.polls, hour.value.useful, hour.value.weeks, hour.value.week] {
                writer.integer(number)
            }
            writer.endArray()
        }
    }

    init?(_ value: JSONValue) {
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
