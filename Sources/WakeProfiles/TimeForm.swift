// The forms in which devices send dates and times, and the text of ISO 8601 that each becomes.
import WakeModel

enum TimeForm: String, Hashable, Sendable, CaseIterable {
    /// Date Time of the Bluetooth SIG: year (2 bytes), month, day, hours, minutes, seconds.
    case gatt
    /// Seconds since 1970 in 4 bytes.
    case unix32
    /// Milliseconds since 1970 in 8 bytes.
    case unixMilliseconds = "unix-ms"
    /// Year of the century, month, day, hours, minutes and seconds, two decimal digits a byte.
    case bcd6
    /// The week since 1980-01-06 in 2 bytes, the milliseconds of the week in 4.
    case gps

    var width: Int {
        switch self {
        case .gatt: 7
        case .unix32: 4
        case .unixMilliseconds: 8
        case .bcd6, .gps: 6
        }
    }

    /// Whether the number is one, so that `null` can name it.
    var isOneNumber: Bool {
        switch self {
        case .unix32, .unixMilliseconds: true
        case .gatt, .bcd6, .gps: false
        }
    }
}

/// A day and a time of it; its text has no zone where the device's form has none.
struct CivilTime: Hashable {
    var year: Int64
    var month: Int64
    var day: Int64
    var hour: Int64
    var minute: Int64
    var second: Int64
    var millisecond: Int64?
    var isUTC = false

    /// Whether the day and the time exist.
    var exists: Bool {
        guard (1...12).contains(month), (1...31).contains(day), (0...9_999).contains(year) else { return false }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        return civilDate(daysSinceEpoch: days) == (year, month, day) && (0..<24).contains(hour)
            && (0..<60).contains(minute) && (0..<60).contains(second)
    }

    init(_ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64, _ second: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Nil where the year would have more than four digits.
    init?(millisecondsSince1970 count: Int64) {
        let (seconds, milliseconds) = count.dividedFlooring(by: 1_000)
        let (days, second) = seconds.dividedFlooring(by: 86_400)
        guard (-719_528..<2_932_897).contains(days) else { return nil }
        let date = civilDate(daysSinceEpoch: days)
        self.init(date.year, date.month, date.day, second / 3_600, second / 60 % 60, second % 60)
        millisecond = milliseconds
    }
}

extension [UInt8] {
    /// `"2026-11-25T07:42:46"`, in quotes.
    mutating func append(_ time: CivilTime) {
        append(UInt8(ascii: "\""))
        appendPadded(time.year, width: 4)
        append(UInt8(ascii: "-"))
        appendPadded(time.month, width: 2)
        append(UInt8(ascii: "-"))
        appendPadded(time.day, width: 2)
        append(UInt8(ascii: "T"))
        appendPadded(time.hour, width: 2)
        append(UInt8(ascii: ":"))
        appendPadded(time.minute, width: 2)
        append(UInt8(ascii: ":"))
        appendPadded(time.second, width: 2)
        if let millisecond = time.millisecond {
            append(UInt8(ascii: "."))
            appendPadded(millisecond, width: 3)
        }
        if time.isUTC { append(UInt8(ascii: "Z")) }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendPadded(_ value: Int64, width: Int) {
        var power: Int64 = 1
        for _ in 1..<width { power *= 10 }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / power % 10))
            power /= 10
        }
    }
}

extension TimeForm {
    /// The reading of a time's bytes.
    enum Reading: Hashable {
        case time(CivilTime)
        /// They are a time's, and mean that there is none.
        case absent
        case impossible

        init(checking time: CivilTime) { self = time.exists ? .time(time) : .impossible }
    }

    /// - Parameter bytes: as many as the form is wide.
    func reading(of bytes: ArraySlice<UInt8>, isBigEndian: Bool, nulls: [Int64]) -> Reading {
        switch self {
        case .gatt: Self.gatt(bytes, isBigEndian)
        case .bcd6: Self.bcd(bytes)
        case .unix32, .unixMilliseconds: unix(Self.number(bytes, isBigEndian), nulls: nulls)
        case .gps: Self.gps(bytes, isBigEndian)
        }
    }

    private func unix(_ number: Int64, nulls: [Int64]) -> Reading {
        if nulls.contains(number) { return .absent }
        let isCounted = self == .unixMilliseconds
        guard var time = CivilTime(millisecondsSince1970: isCounted ? number : number * 1_000) else {
            return .impossible
        }
        if !isCounted { time.millisecond = nil }
        time.isUTC = true
        return .time(time)
    }

    private static func gps(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Reading {
        let week = number(bytes.prefix(2), isBigEndian)
        let milliseconds = number(bytes.dropFirst(2), isBigEndian)
        let (epoch, weekLength): (Int64, Int64) = (315_964_800_000, 604_800_000)
        guard milliseconds < weekLength else { return .impossible }
        return CivilTime(millisecondsSince1970: epoch + week * weekLength + milliseconds).map { .time($0) }
            ?? .impossible
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Int64 {
        var value: UInt64 = 0
        if isBigEndian {
            for byte in bytes { value = value << 8 | UInt64(byte) }
        } else {
            for byte in bytes.reversed() { value = value << 8 | UInt64(byte) }
        }
        return Int64(bitPattern: value)
    }

    private static func gatt(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Reading {
        let rest = bytes.dropFirst(2).map { Int64($0) }
        let time = CivilTime(number(bytes.prefix(2), isBigEndian), rest[0], rest[1], rest[2], rest[3], rest[4])
        return time.year == 0 || time.month == 0 || time.day == 0 ? .absent : Reading(checking: time)
    }

    private static func bcd(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard bytes.allSatisfy({ $0 >> 4 < 10 && $0 & 15 < 10 }) else { return .impossible }
        let parts = bytes.map { Int64($0 >> 4) * 10 + Int64($0 & 15) }
        return Reading(checking: CivilTime(2_000 + parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]))
    }
}
