// The log of nRF Connect: a line a happening, with the time of day, a level, and a sentence.
import WakeHCI
import WakeModel

struct NRFConnectFollower: LineFollower {
    private static let day: Int64 = 86_400_000_000_000
    /// From 1970 to where nanoseconds in 64 bits end, in microseconds.
    private static let dates: Range<Int64> = 0..<9_000_000_000_000_000

    private var midnight: Int64 = 0
    private var latest: Int64?
    private var name: String?
    private var address: RadioAddress?
    private var place: Int?
    private var isUp = false

    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { false }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        if let date = line.after("nRF Connect, ") { return try setDate(date, at: offset) }
        guard let (time, sentence) = Self.parts(line) else { return setDevice(line) }
        advance(to: time, &draft, at: offset)
        draft.counts.records += 1
        try readSentence(sentence, at: offset, into: &draft)
    }

    /// A letter for the level, the time, and a sentence. Tabs separate them, which become spaces when a log is pasted.
    private static func parts(_ line: ArraySlice<UInt8>) -> (time: Int64, sentence: ArraySlice<UInt8>)? {
        var words = LineWords(line)
        guard let level = words.next(), level.count == 1, let time = words.next().flatMap({ Self.time($0) }) else {
            return nil
        }
        return (time, words.rest.trimmed)
    }

    private mutating func setDate(_ date: ArraySlice<UInt8>, at offset: Int) throws(ImportError) {
        guard let time = WallTime(rfc3339: date.prefix(10).text + "T00:00:00Z"),
            Self.dates.contains(time.microseconds)
        else {
            throw ImportError(offset: offset, reason: "the first line has no date such as 2026-08-31")
        }
        midnight = time.microseconds * 1000
    }

    /// `Strap (C0:F1:F2:F3:F4:01)`, in the second line.
    private mutating func setDevice(_ line: ArraySlice<UInt8>) {
        guard address == nil, line.last == UInt8(ascii: ")"), line.count > 19 else { return }
        address = RadioAddress(line.dropLast().suffix(17).text)
        let text = line.dropLast(19).trimmed.text
        if address != nil, !text.isEmpty { name = text }
    }

    /// A log has the date in its first line only.
    private mutating func advance(to time: Int64, _ draft: inout TraceDraft, at offset: Int) {
        if let latest, time < latest - Self.day / 2 { midnight = midnight.addingSaturating(Self.day) }
        latest = time
        draft.advance(to: midnight.addingSaturating(time), at: offset)
    }

    /// `11:36:48.427`.
    private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: ":"))
        guard parts.count == 3, let hour = Int64(decimal: parts[0]), let minute = Int64(decimal: parts[1]),
            let second = Int64(seconds: parts[2]), (0..<24).contains(hour), (0..<60).contains(minute),
            second < 61_000_000_000
        else { return nil }
        return (hour * 3_600 + minute * 60) * 1_000_000_000 + second
    }

    /// The application's own line repeats the stack's, and is passed over.
    private mutating func readSentence(
        _ sentence: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft
    ) throws(ImportError) {
        if let text = sentence.after("Connecting to ") { address = RadioAddress(text.prefix(17).text) ?? address }
        if let text = sentence.after("Connected to ") {
            address = RadioAddress(text.prefix(17).text) ?? address
            return begin(&draft)
        }
        if sentence.hasPrefix("Disconnected"), isUp, let place {
            isUp = false
            return draft.disconnect(place, "unspecified")
        }
        for word in ["Notification", "Indication"] where sentence.text.hasPrefix("\(word) received from ") {
            let value = sentence.dropFirst(word.utf8.count + 15)
            try readValue(value, isIndication: word == "Indication", at: offset, &draft)
        }
    }

    private mutating func begin(_ draft: inout TraceDraft) {
        guard !isUp else { return }
        isUp = true
        if place == nil {
            place = draft.peripheral(address ?? RadioAddress(number: 0))
            if let place, let name { draft.update(place) { $0.facts.name = name } }
        }
        draft.counts.links += 1
        if let place { draft.connect(place) }
    }

    /// `00002a37-…-00805f9b34fb, value: (0x) 16-49`; without bytes the line ends behind `value:`.
    private mutating func readValue(
        _ text: ArraySlice<UInt8>, isIndication: Bool, at offset: Int, _ draft: inout TraceDraft
    ) throws(ImportError) {
        let mark = ", value:"
        guard let uuid = BluetoothUUID(text.prefix(36).text), let start = text.place(of: mark),
            let bytes = Self.bytes(text[(start + mark.utf8.count)...].trimmed)
        else { throw ImportError(offset: offset, reason: "no UUID and bytes in hexadecimal stand in the value there") }
        begin(&draft)
        if isIndication { draft.counts.indications += 1 } else { draft.counts.notifications += 1 }
        if let place { draft.add(bytes, of: .characteristic(uuid), from: place) }
    }

    /// `(0x) 16-49`.
    private static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        return text.after("(0x)").flatMap { [UInt8](hexadecimal: $0.filter { $0 != UInt8(ascii: "-") && $0 > 0x20 }) }
    }
}
