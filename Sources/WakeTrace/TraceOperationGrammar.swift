// The grammar of operation lines such as `+0.812 1 data 2a37 1049`; each line is one `DeviceEvent.Kind`.
import WakeModel

extension TraceLine {
    static let operations = ["connect", "disconnect", "data", "gap", "attention"]

    /// Reads the part after the device number. `now` is the wall clock at this line: a gap ends there.
    mutating func kind(now: WallTime) throws(TraceError) -> DeviceEvent.Kind {
        let word = try token("the operation")
        if matches(word, "data") { return .data(try channel(), try payload()) }
        if matches(word, "connect") { return .connected(folded: try folded()) }
        if matches(word, "disconnect") { return try disconnect() }
        if matches(word, "gap") { return .gap(try gap(until: now)) }
        if matches(word, "attention") { return try attention() }
        let name = text(word)
        throw error(
            "unknown operation `\(name)`" + advice(on: name, among: Self.operations), at: word.lowerBound)
    }

    private mutating func channel() throws(TraceError) -> Channel {
        let range = try token("the channel")
        if let uuid = uuid(range) { return .characteristic(uuid) }
        let name = text(range)
        if let channel = Channel(wireName: name) { return channel }
        throw error(
            "`\(name)` is no channel: a UUID of 4, 8 or 36 characters, one such as `2a19#2`, `serial`, `input`, `advertisement`, `report-0` "
                + "to `report-255`, or a piece of a stream such as `serial-cut-short`",
            at: range.lowerBound)
    }

    /// Reads in place, because every data line has one.
    private func uuid(_ range: Range<Int>) -> BluetoothUUID? {
        switch range.count {
        case 4, 8: return number(range).map { BluetoothUUID(short: UInt32(truncatingIfNeeded: $0)) }
        case 36:
            let first = range.lowerBound
            for hyphen in [8, 13, 18, 23] where bytes[first + hyphen] != UInt8(ascii: "-") { return nil }
            guard let one = number(first..<(first + 8)), let two = number((first + 9)..<(first + 13)),
                let three = number((first + 14)..<(first + 18)), let four = number((first + 19)..<(first + 23)),
                let five = number((first + 24)..<(first + 36))
            else { return nil }
            return BluetoothUUID(high: one << 32 | two << 16 | three, low: four << 48 | five)
        default: return nil
        }
    }

    private func number(_ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            guard let digit = digitValue(bytes[index]) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    private mutating func folded() throws(TraceError) -> UInt32 {
        var folded: UInt32 = 0
        try eachKey(["folded"]) { (line, _) throws(TraceError) in
            folded = UInt32(try line.unsigned("folded", upTo: UInt64(UInt32.max)))
        }
        return folded
    }

    private mutating func disconnect() throws(TraceError) -> DeviceEvent.Kind {
        var folded: UInt32 = 0
        var reason: String?
        let place = position
        try eachKey(["reason", "folded"]) { (line, key) throws(TraceError) in
            if key == "reason" {
                reason = try line.value("reason")
            } else {
                folded = UInt32(try line.unsigned("folded", upTo: UInt64(UInt32.max)))
            }
        }
        guard let reason, !reason.isEmpty else { throw error("a disconnect names its `reason=`", at: place) }
        return .disconnected(reason: reason, folded: folded)
    }

    private mutating func gap(until now: WallTime) throws(TraceError) -> Gap {
        let cause = try word("the cause of the gap", GapCause.self)
        var count: UInt64?
        var length = TimeSpan.zero
        try eachKey(["count", "for"]) { (line, key) throws(TraceError) in
            if key == "count" {
                count = try line.unsigned("count", upTo: UInt64(Int64.max))
            } else {
                length = try line.span("for")
            }
        }
        let from = now + TimeSpan(nanoseconds: -length.nanoseconds)
        return Gap(cause: cause, count: count, first: nil, last: nil, from: from, to: now)
    }

    private mutating func attention() throws(TraceError) -> DeviceEvent.Kind {
        let attention = try word("what asks for attention", Attention.self)
        skipSpaces()
        guard next == UInt8(ascii: "\"") else { throw error("a sentence in quotation marks belongs here") }
        let detail = try value("the sentence")
        try expectEnd()
        return .attention(attention, detail: detail)
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ wanted: StaticString, _ type: Word.Type
    ) throws(TraceError) -> Word where Word.RawValue == String {
        let range = try token(wanted)
        let name = text(range)
        guard let word = Word(rawValue: name) else {
            let known = Word.allCases.map(\.rawValue)
            throw error("unknown word `\(name)`" + advice(on: name, among: known), at: range.lowerBound)
        }
        return word
    }

    /// Reads `key=value` to the end of the line; each known key at most once, unless it is in `repeatable`.
    mutating func eachKey(
        _ known: [String], repeatable: [String] = [],
        _ read: (inout TraceLine, String) throws(TraceError) -> Void
    ) throws(TraceError) {
        var seen: [String] = []
        skipSpaces()
        while !isAtEnd {
            let range = try token("a key", stoppingAtEquals: true)
            let key = text(range)
            let family = key.hasPrefix("property.") ? "property." : key
            guard known.contains(family) else {
                throw error("unknown key `\(key)`" + advice(on: key, among: known), at: range.lowerBound)
            }
            guard repeatable.contains(family) || !seen.contains(key) else {
                throw error("`\(key)` is there twice", at: range.lowerBound)
            }
            guard next == UInt8(ascii: "=") else { throw error("`=` belongs after `\(key)`") }
            seen.append(key)
            position += 1
            try read(&self, key)
            skipSpaces()
        }
    }
}
