// The reckoning with what a handler ordered: each order with its answer, and each firing with its number.
import TestBench
import WakeModel

struct ScheduleRecord {
    /// One firing as it was delivered to one process.
    struct Delivery {
        var name: String
        var sequence: Int64
        var attempt: Int64
        var place: Int
    }

    /// What became of the orders of one alarm or one job.
    private struct Course {
        var orders = 0
        var isPromised = false
        var hasCancellation = false
        /// Where the answer stands.
        var cancelledAt: Int?
    }

    private(set) var deliveries: [Delivery] = []
    private var courses: [String: Course] = [:]
    /// Of each order by its reference: whether it cancels, and what.
    private var orders: [String: (verb: String, name: String)] = [:]
    private var lives = 0

    init(_ path: String) {
        for (place, line) in lines(of: path).enumerated() {
            let fields = line.split(separator: " ", maxSplits: 3)
            guard fields.count == 4, let value = try? JSONValue(parsing: Array(fields[3].utf8)) else { continue }
            switch fields[0] {
            case "life": lives += 1
            case "out": readOrder(value)
            case "in": readLine(value, place)
            default: break
            }
        }
    }

    private mutating func readOrder(_ value: JSONValue) {
        guard let reference = value["ref"]?.string else { return }
        if let name = value["alarm"]?["id"]?.string ?? value["submit"]?["job"]?.string {
            courses[name, default: Course()].orders += 1
            orders[reference] = ("order", name)
        } else if let name = value["cancel"]?["alarm"]?.string ?? value["cancel"]?["job"]?.string {
            courses[name, default: Course()].hasCancellation = true
            orders[reference] = ("cancel", name)
        }
    }

    private mutating func readLine(_ value: JSONValue, _ place: Int) {
        let data = value["data"] ?? .null
        switch value["type"]?.string {
        case "wakebridge.reply":
            guard let reference = data["ref"]?.string, let (verb, name) = orders[reference] else { return }
            if verb == "order" { courses[name]?.isPromised = true }
            if data["cancel"]?.string == "cancelled" { courses[name]?.cancelledAt = place }
        case "wakebridge.alarm.fired", "wakebridge.job.due":
            guard let name = data["id"]?.string ?? data["job"]?.string, let sequence = value["seq"]?.integer else {
                return
            }
            deliveries.append(
                Delivery(name: name, sequence: sequence, attempt: value["attempt"]?.integer ?? 0, place: place))
        default: break
        }
    }

    /// Promised, not cancelled, and never delivered.
    var forgotten: [String] {
        let delivered = Set(deliveries.map(\.name))
        return courses.filter { $0.value.isPromised && !$0.value.hasCancellation && !delivered.contains($0.key) }
            .keys.sorted()
    }

    /// What is wrong with it.
    var complaints: [String] { forgotten.map { "\($0) was promised and never came" } + repetitions + tooMany }

    /// What comes again is the same, and says so by its attempt.
    private var repetitions: [String] {
        var complaints: [String] = []
        var before: [Int64: Delivery] = [:]
        for delivery in deliveries {
            if let earlier = before[delivery.sequence] {
                if earlier.name != delivery.name {
                    complaints.append("\(delivery.sequence) was \(earlier.name) and then \(delivery.name)")
                }
                if delivery.attempt <= earlier.attempt {
                    complaints.append(
                        "\(delivery.sequence) came with attempt \(delivery.attempt) after \(earlier.attempt)")
                }
            }
            before[delivery.sequence] = delivery
        }
        return complaints
    }

    /// One firing an order at most, and none that begins after its cancellation was answered.
    private var tooMany: [String] {
        var complaints: [String] = []
        for (name, all) in Dictionary(grouping: deliveries, by: \.name).sorted(by: { $0.key < $1.key }) {
            let numbers = Set(all.map(\.sequence))
            let course = courses[name] ?? Course()
            if numbers.count > course.orders {
                complaints.append("\(name) was ordered \(course.orders) times and fired as \(numbers.sorted())")
            }
            let firsts = numbers.compactMap { number in all.first { $0.sequence == number } }
            if let end = course.cancelledAt, let late = firsts.first(where: { $0.place > end }) {
                complaints.append("\(name) fired as \(late.sequence) after its cancellation was answered")
            }
        }
        return complaints
    }

    var summary: String {
        let again = deliveries.count - Set(deliveries.map(\.sequence)).count
        let promised = courses.values.count(where: \.isPromised)
        let cancelled = courses.values.count { $0.cancelledAt != nil }
        return
            "\(lives) lives ordered \(courses.count) alarms and jobs, \(promised) were answered, \(cancelled) cancelled; "
            + "\(deliveries.count) deliveries, \(again) of them again"
    }
}
