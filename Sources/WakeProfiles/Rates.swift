// Rates that counters of messages make: turns a minute from a count of turns and the time of the last.
import WakeModel

/// A counter of a message and its clock, and the rate of their growth.
struct Rate: Hashable, Sendable {
    var key: Range<Int>
    var count: FieldProgram.Reference
    var wrap: Int64
    var time: FieldProgram.Reference
    /// A second in the clock's own unit.
    var ticks: Int64
    var timeWrap: Int64
    var factor: Double
    /// The time without a step of the clock after which the rate is zero.
    var stale: TimeSpan
    var decimals: Int
}

/// The counts of a device's last messages: its rates are made of two messages.
public struct RateMemory: Hashable, Sendable {
    struct Count: Hashable, Sendable {
        var count: Int64
        var time: Int64
        /// When the clock stepped.
        var stepped: Instant
    }

    var counts: [Channel: [Int: Count]] = [:]

    public init() {}

    /// After a disconnect or a gap the counts between are unknown.
    public mutating func forget() { counts = [:] }
}

extension Rate {
    /// The rate that a message makes, or nil. Keeps the counts for the next.
    func rate(count: Int64, time: Int64, at now: Instant, after last: inout RateMemory.Count?) -> Double? {
        // A value outside the range of its counter or clock is neither.
        guard (-wrap..<wrap).contains(count), (-timeWrap..<timeWrap).contains(time) else { return nil }
        guard let before = last else {
            last = .init(count: count, time: time, stepped: now)
            return nil
        }
        let elapsed = Self.growth(from: before.time, to: time, wrap: timeWrap)
        if elapsed == 0 {
            last = .init(count: count, time: time, stepped: before.stepped)
            return now - before.stepped >= stale ? 0 : nil
        }
        last = .init(count: count, time: time, stepped: now)
        let grown = Self.growth(from: before.count, to: count, wrap: wrap)
        // Also by the daemon's clock: a counter that went round several times looks as if it had hardly moved.
        let halfRound = TimeSpan(nanoseconds: TimeSpan.seconds(timeWrap).nanoseconds / ticks / 2)
        guard elapsed <= timeWrap / 2, grown <= wrap / 2, now - before.stepped <= halfRound else { return nil }
        return Double(grown) * Double(ticks) * factor / Double(elapsed)
    }

    private static func growth(from old: Int64, to new: Int64, wrap: Int64) -> Int64 {
        (new &- old).dividedFlooring(by: wrap).remainder
    }
}

extension FieldProgram {
    /// The members that the rates of a message are, without braces.
    func rates(
        of bytes: [UInt8], at now: Instant, after counts: inout [Int: RateMemory.Count]
    ) -> [UInt8] {
        var scratch: [UInt8] = []
        var cursor = FieldCursor(bytes: bytes, surplus: surplus, appendingTo: &scratch)
        guard (try? run(&cursor)) != nil else { return [] }
        var json: [UInt8] = []
        for (place, rate) in rates.enumerated() where cursor.knows(rate.count) && cursor.knows(rate.time) {
            let (count, time) = (rate.count.value(in: cursor.slots), rate.time.value(in: cursor.slots))
            guard let value = rate.rate(count: count, time: time, at: now, after: &counts[place]) else { continue }
            if !json.isEmpty { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: keys[rate.key])
            json.appendRounded(value, decimals: rate.decimals, power: powerOfTen(rate.decimals))
        }
        return json
    }
}

/// The key `derive`.
extension FieldCompiler {
    static let rateKeys = [
        "name", "count", "wrap", "time", "ticks", "time_wrap", "per", "stale", "decimals",
    ]
    private static let largestWrap = 1 << 48

    mutating func addRates(of object: ConfigurationObject) {
        let required = Self.rateKeys.filter { $0 != "decimals" }
        guard object.has("derive") else { return }
        for rate in object.objects("derive", keys: Self.rateKeys, required: required) ?? [] { addRate(rate) }
    }

    private mutating func addRate(_ object: ConfigurationObject) {
        guard let name = object.text("name"), isWritable(name, in: object) else { return }
        if scope.entries.contains(where: { $0.name == name })
            || program.rates.contains(where: { rate in
                program.keys[rate.key].elementsEqual("\"\(name)\":".utf8)
            })
        {
            return object.add("\(object.path) comes after a field named \"\(name)\"; rename one")
        }
        let count = object.text("count").flatMap { resolve($0, key: "count", in: object) }
        let time = object.text("time").flatMap { resolve($0, key: "time", in: object) }
        let wrap = object.integer("wrap", in: 2...Self.largestWrap)
        let timeWrap = object.integer("time_wrap", in: 2...Self.largestWrap)
        let ticks = object.integer("ticks", in: 1...1_000_000_000)
        let per = object.number("per", in: 0.000_001...1_000_000_000)
        let stale = object.span("stale", in: .milliseconds(100) ... .seconds(3_600))
        let decimals = object.integer("decimals", in: 0...9) ?? 1
        guard let count, let time, let wrap, let timeWrap, let ticks, let per, let stale else { return }
        program.rates.append(
            Rate(
                key: key(name), count: count.place, wrap: Int64(wrap), time: time.place, ticks: Int64(ticks),
                timeWrap: Int64(timeWrap), factor: per, stale: stale, decimals: decimals))
    }
}
