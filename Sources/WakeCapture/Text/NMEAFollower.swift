// Reads a satellite receiver's sentences, one in each line, paced by the times in them.
import WakeModel
import WakeTrace

struct NMEAFollower: LineFollower {
    private static let day: Int64 = 86_400_000_000_000

    private let pace: ImportPace
    private let alias: String?
    private var place: Int?
    /// The time of day of the latest sentence that has one.
    private var clock: Int64?
    /// The time since, by the bytes of the sentences.
    private var spoken = TimeSpan.zero
    private var hasDate = false

    init(_ terms: ImportTerms) { (pace, alias) = (terms.pace, terms.alias) }

    /// With both digits of its checksum: one more byte would be the end of the line.
    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool {
        line.suffix(3).first == UInt8(ascii: "*") && [UInt8](hexadecimal: line.suffix(2)) != nil
    }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        guard !line.isEmpty, line.first != UInt8(ascii: "#") else { return }
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        advance(fields, line.count + 2, &draft)
        draft.counts.records += 1
        if place == nil { place = draft.serialDevice(alias: alias, named: "nmea") }
        guard let place else { return }
        draft.counts.messages += 1
        draft.add(line.prefix(SerialCutter.limit), of: .channel(.serial), from: place)
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        if !hasDate { draft.warn("no sentence has a date; the trace begins in 1970") }
    }

    /// Advances to the time of the sentence, if it is later; else by as long as its bytes take on the line.
    private mutating func advance(_ fields: [ArraySlice<UInt8>], _ count: Int, _ draft: inout TraceDraft) {
        let span = pace.span(bytes: count)
        guard let time = Self.time(fields) else {
            spoken = spoken + span
            return draft.advance(by: span)
        }
        setDate(fields, time, &draft)
        guard let latest = clock, time != latest else {
            if clock == nil { draft.beginDay(at: time) } else { draft.advance(by: span) }
            clock = clock ?? time
            return
        }
        let step = (time - latest + Self.day) % Self.day
        // A step back by less than half a day is none to tomorrow.
        let passed = step > Self.day / 2 ? span : max(span, TimeSpan(nanoseconds: step) - spoken)
        draft.advance(by: passed)
        (clock, spoken) = (time, .zero)
    }

    /// `hhmmss.sss` of the sentences that begin with it, or have it in a field that is known.
    private static func time(_ fields: [ArraySlice<UInt8>]) -> Int64? {
        guard let kind = fields.first?.suffix(3), fields.first?.count ?? 0 >= 6 else { return nil }
        let place: Int
        switch kind.text {
        case "RMC", "GGA", "GNS", "ZDA", "GST", "GBS": place = 1
        case "GLL": place = 5
        default: return nil
        }
        guard fields.count > place, fields[place].count >= 6, let clock = Int64(decimal: fields[place].prefix(6)),
            let part = Int64(seconds: ([0x30] + fields[place].dropFirst(6))[...])
                ?? (fields[place].count == 6 ? 0 : nil)
        else { return nil }
        let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100)
        guard clock >= 0, hour < 24, minute < 60, second < 61, part < 1_000_000_000 else { return nil }
        return (hour * 3_600 + minute * 60 + second) * 1_000_000_000 + part
    }

    /// `ddmmyy` in the tenth field of RMC; the trace begins on that day.
    private mutating func setDate(_ fields: [ArraySlice<UInt8>], _ time: Int64, _ draft: inout TraceDraft) {
        guard !hasDate, fields.first?.hasSuffix("RMC") == true, fields.count > 9, fields[9].count == 6,
            let date = Int64(decimal: fields[9])
        else { return }
        let year = date % 100 + (date % 100 < 80 ? 2000 : 1900)
        let (day, month) = (date / 10_000, date / 100 % 100)
        guard (1...31).contains(day), (1...12).contains(month) else { return }
        hasDate = true
        draft.moveStart(by: daysSinceEpoch(year: year, month: month, day: day) * Self.day)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}

extension TraceDraft {
    /// A line whose device is unknown. With an alias, a profile is found by it.
    mutating func serialDevice(alias: String?, named name: String) -> Int? {
        let place = device(.externalAccessory, "unknown:unknown:@\(AccessoryName.written(alias ?? name)):00") { facts in
            facts.alias = alias
            facts.properties = alias.map { [("WAKEBRIDGE_DEVICE", $0)] } ?? []
        }
        if let place { connect(place) }
        return place
    }
}
