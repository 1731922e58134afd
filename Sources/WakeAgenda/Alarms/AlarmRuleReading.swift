// Reads an alarm from JSON, as manifests declare it and as handlers order it on descriptor 3: one reader for both.
import WakeModel

extension AlarmRule {
    /// The author of a rule. A manifest is read again at each start, so that it can only declare repeating ones.
    public enum Origin: String, Hashable, Sendable { case manifest, order }

    /// - Parameter value: `{"id":"pill","daily":["07:30"]}`.
    public init(_ value: JSONValue, from origin: Origin) throws(ProtocolFault) {
        let reader = try AlarmReader(value, origin)
        self.init(id: reader.id, schedule: try reader.schedule())
        catchUp = try reader.catchUp() ?? catchUp
        leeway = try reader.span("leeway", in: .zero...Self.longestLeeway) ?? leeway
        wakes = try reader.flag("wake") ?? wakes
        wakesMachine = try reader.flag("wakes_machine") ?? wakesMachine
        if wakesMachine, !wakes {
            throw reader.contradiction(
                "has \"wake\": false and \"wakes_machine\": true", "Leave out one of them.")
        }
        data = try reader.data() ?? data
        alert = try reader.alert()
    }

    /// The keys of the manifest's `alarms`; a manifest has no instants and no spans from now on.
    package static let manifestKeys = [
        "id", "daily", "days", "zone", "every", "phase", "catch_up", "leeway", "wake", "wakes_machine", "data",
        "alert",
    ]

    /// All that a manifest declares.
    public static func rules(_ value: JSONValue) throws(ProtocolFault) -> [AlarmRule] {
        guard (value.array?.count ?? 0) <= limit else { throw .tooManyAlarms }
        let advice = "Write [{\"id\":\"pill\",\"daily\":[\"07:30\"]}], or [] to permit orders alone."
        return try value.rules(of: "alarms", advice: advice) { (value, others: [AlarmRule]) throws(ProtocolFault) in
            let rule = try AlarmRule(value, from: .manifest)
            guard !others.contains(where: { $0.id == rule.id }) else {
                throw ProtocolFault(
                    .conflict, "Two alarms have the id \"\(rule.id)\".", advice: "Give each an id of its own.")
            }
            return rule
        }
    }

    /// An id: 1 to 64 of a-z, 0-9, `-`, `_` and `.`.
    static func id(_ value: JSONValue?, of owner: String) throws(ProtocolFault) -> String {
        let letters = "Write 1 to \(idLimit) of the characters a-z, 0-9, -, _ and ."
        guard let text = value?.string, !text.isEmpty, text.utf8.allSatisfy(isPartOfID) else {
            throw .malformed("\(owner) must be an id; got \((value ?? .null).excerpt).", advice: letters)
        }
        guard text.utf8.count <= idLimit else {
            throw .tooLong("The alarm's id", text.utf8.count, limit: idLimit, advice: letters)
        }
        return text
    }

    private static func isPartOfID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension ProtocolFault {
    static func tooManyAlarms(besideDeclared id: String) -> ProtocolFault {
        ProtocolFault(
            .tooMany,
            "The alarm \"\(id)\" of the manifest is not set: this handler has \(AlarmRule.limit) alarms, which is the limit.",
            advice: "Cancel one that was ordered; then the manifest's is set.")
    }

    static let tooManyAlarms = ProtocolFault(
        .tooMany, "The handler has \(AlarmRule.limit) alarms, which is the limit.",
        advice: "Cancel one that is no longer needed, or let one alarm repeat.")
}

/// The members of one alarm.
private struct AlarmReader {
    let id: String
    private let members: [JSONValue.Member]
    private let origin: AlarmRule.Origin

    /// Keys of a span are also known with `_s`, for a number of seconds.
    private static let spans = ["every", "phase", "in", "leeway"]
    private static let keys =
        ["id", "daily", "days", "zone", "at", "catch_up", "wake", "wakes_machine", "data", "alert"] + spans
        + spans.map { $0 + "_s" }

    init(_ value: JSONValue, _ origin: AlarmRule.Origin) throws(ProtocolFault) {
        guard case .object(let members) = value else {
            throw .malformed(
                "An alarm must be an object; got \(value.excerpt).",
                advice: "Write {\"id\":\"pill\",\"daily\":[\"07:30\"]}.")
        }
        for member in members where !Self.keys.contains(member.name) {
            throw .unknownKey(member.name, of: "an alarm", known: Self.keys)
        }
        (self.members, self.origin) = (members, origin)
        id = try AlarmRule.id(members.first { $0.name == "id" }?.value, of: "\"id\" of an alarm")
    }

    private func value(_ key: String) -> JSONValue? { members.first { $0.name == key }?.value }

    private func refuse(_ key: String, takes what: String, _ advice: String) -> ProtocolFault {
        .malformed(
            "\"\(key)\" of alarm \"\(id)\" must be \(what); got \((value(key) ?? .null).excerpt).", advice: advice
        )
    }

    func contradiction(_ sentence: String, _ advice: String) -> ProtocolFault {
        .malformed("Alarm \"\(id)\" \(sentence).", advice: advice)
    }
}

// When it fires.
extension AlarmReader {
    func schedule() throws(ProtocolFault) -> AlarmRule.Schedule {
        let kinds = ["daily", "every", "at", "in"].filter { has($0) }
        guard let kind = kinds.first else {
            throw contradiction("says no time", timeAdvice)
        }
        guard kinds.count == 1 else {
            throw contradiction(
                "has both \"\(kinds[0])\" and \"\(kinds[1])\"", "Keep one, or make two alarms of it.")
        }
        try refuseStrays(beside: kind)
        switch kind {
        case "daily": return .daily(try dailyTimes(), zone: try zone())
        case "every": return try interval()
        case "at": return .at(try instant())
        default: return .after(try span("in", in: .milliseconds(1)...AlarmRule.longestSpan) ?? .zero)
        }
    }

    private var timeAdvice: String {
        switch origin {
        case .manifest: "Write one of \"daily\" and \"every\"; the handler can order alarms of a single time."
        case .order: "Write one of \"daily\", \"at\", \"in_s\" and \"every_s\"."
        }
    }

    private func has(_ key: String) -> Bool { value(key) != nil || value(key + "_s") != nil }

    private func refuseStrays(beside kind: String) throws(ProtocolFault) {
        let owners = [("days", "daily"), ("zone", "daily"), ("phase", "every")]
        for (key, owner) in owners where has(key) && kind != owner {
            throw contradiction("has \"\(key)\" beside \"\(kind)\"", "Leave it out: it goes with \"\(owner)\" alone.")
        }
        if origin == .manifest, kind == "at" || kind == "in" {
            throw contradiction(
                "has \"\(kind)\", and a manifest declares only alarms that repeat",
                "Write \"daily\" or \"every\" there, and let the handler order the others.")
        }
    }

    private func dailyTimes() throws(ProtocolFault) -> DailyTimes {
        let advice = "Write [\"07:30\"] or [\"07:30:15\",\"19:00\"]."
        guard let values = value("daily")?.array, !values.isEmpty else {
            throw refuse("daily", takes: "a list of times", advice)
        }
        guard values.count <= AlarmRule.timesLimit else {
            throw ProtocolFault(
                .tooMany,
                "\"daily\" of alarm \"\(id)\" lists \(values.count) times; the limit is \(AlarmRule.timesLimit).",
                advice: "Use \"every\" for what comes so often.")
        }
        var times: [Int64] = []
        for value in values {
            guard let time = value.string.flatMap(Self.secondOfDay) else {
                throw .malformed(
                    "\"daily\" of alarm \"\(id)\" must be times from 00:00 to 23:59:59; got \(value.excerpt).",
                    advice: advice)
            }
            times.append(time)
        }
        guard let result = DailyTimes(times: times, days: try days() ?? Set(Weekday.allCases)) else {
            throw refuse("daily", takes: "a list of times", advice)
        }
        return result
    }

    /// `07:30` or `07:30:15`.
    private static func secondOfDay(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard (2...3).contains(parts.count), numbers.count == parts.count, numbers[0] < 24 else { return nil }
        guard numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        return numbers[0] * 3_600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
    }

    private func days() throws(ProtocolFault) -> Set<Weekday>? {
        guard let value = value("days") else { return nil }
        let known = Weekday.allCases.map(\.word)
        guard let words = value.array, !words.isEmpty else {
            throw refuse("days", takes: "a list of days", "Write [\"mon\",\"fri\"], or leave it out for every day.")
        }
        var days: Set<Weekday> = []
        for word in words {
            guard let day = word.string.flatMap({ Weekday(word: $0) }) else {
                throw ProtocolFault(
                    .unknownToken,
                    "\"days\" of alarm \"\(id)\" knows no \(word.excerpt)\(nearest(to: word.string ?? "", in: known)).",
                    advice: "Write \(known.listed).")
            }
            days.insert(day)
        }
        return days
    }

    /// A name that can become a path below the folder of zones, and leads nowhere else.
    private func zone() throws(ProtocolFault) -> String? {
        guard let value = value("zone") else { return nil }
        guard let name = value.string, (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isPartOfZone),
            name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
        else {
            throw refuse(
                "zone", takes: "the name of a time zone",
                "Write it as `timedatectl list-timezones` does: Europe/Berlin.")
        }
        return name
    }

    private static func isPartOfZone(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func interval() throws(ProtocolFault) -> AlarmRule.Schedule {
        let period = try span("every", in: AlarmRule.shortestPeriod...AlarmRule.longestSpan) ?? .zero
        return .every(period, phase: try span("phase", in: .zero...period))
    }

    private func instant() throws(ProtocolFault) -> WallTime {
        guard let time = value("at")?.string.flatMap({ WallTime(rfc3339: $0) }) else {
            throw refuse(
                "at", takes: "an instant with its offset", "Write 2026-11-22T07:00:00+01:00, or with Z for UTC.")
        }
        return time
    }
}

// The data of an alarm, and its treatment.
extension AlarmReader {
    /// `"leeway":"15m"` or `"leeway_s":900`.
    func span(_ key: String, in range: ClosedRange<TimeSpan>) throws(ProtocolFault) -> TimeSpan? {
        let (text, seconds) = (value(key), value(key + "_s"))
        guard text == nil || seconds == nil else {
            throw contradiction("has both \"\(key)\" and \"\(key)_s\"", "Keep one of them.")
        }
        guard text != nil || seconds != nil else { return nil }
        let span = text.map { $0.string.flatMap { TimeSpan(text: $0) } } ?? seconds?.seconds
        let ends = "from \(range.lowerBound.text) to \(range.upperBound.text)"
        guard let span, range.contains(span) else {
            throw text == nil
                ? refuse(
                    key + "_s", takes: "a number of seconds, \(ends)", "Write a number, such as {\"\(key)_s\":240}.")
                : refuse(key, takes: "a span \(ends)", "Write it with its unit, such as \"15m\".")
        }
        return span
    }

    func flag(_ key: String) throws(ProtocolFault) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.boolean else { throw refuse(key, takes: "true or false", "Leave it out for false.") }
        return flag
    }

    func catchUp() throws(ProtocolFault) -> AlarmRule.CatchUp? {
        guard let value = value("catch_up") else { return nil }
        let known = AlarmRule.CatchUp.allCases.map(\.rawValue)
        guard let word = value.string.flatMap({ AlarmRule.CatchUp(rawValue: $0) }) else {
            throw ProtocolFault(
                .unknownToken,
                "\"catch_up\" of alarm \"\(id)\" knows no \(value.excerpt)\(nearest(to: value.string ?? "", in: known)).",
                advice: "Write \(known.listed).")
        }
        return word
    }

    func data() throws(ProtocolFault) -> [UInt8]? {
        guard let value = value("data") else { return nil }
        var writer = JSONWriter(reserving: 64)
        writer.value(value)
        guard writer.count <= AlarmRule.dataLimit else {
            throw .tooLong(
                "\"data\" of alarm \"\(id)\"", writer.count, limit: AlarmRule.dataLimit,
                advice: "Keep it in a file in WAKEBRIDGE_STATE_DIR, and only its name here.")
        }
        return writer.bytes
    }

    func alert() throws(ProtocolFault) -> String? {
        guard let value = value("alert") else { return nil }
        guard let text = value.string, !text.isEmpty, !text.unicodeScalars.contains(where: \.isMisleading) else {
            throw refuse("alert", takes: "a text in one line", "Write what a person is to read, or leave it out.")
        }
        guard text.utf8.count <= AlarmRule.alertLimit else {
            throw .tooLong(
                "\"alert\" of alarm \"\(id)\"", text.utf8.count, limit: AlarmRule.alertLimit, advice: "Shorten it.")
        }
        return text
    }
}
