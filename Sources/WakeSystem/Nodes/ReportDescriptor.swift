// Parses a HID report descriptor only for this: whether the device's reports begin with their number.

/// The report numbers that a device declares. Its descriptor may be faulty.
public struct ReportDescriptor: Hashable, Sendable {
    public enum Fault: Hashable, Sendable {
        case empty
        /// The item at this offset claims more bytes than are left.
        case itemPastEnd(at: Int)
        /// A report number must be 1 to 255, in one byte.
        case badNumber(at: Int)
        /// A pop item without a push item before it.
        case popWithoutPush(at: Int)
    }

    /// Ascending; empty where input reports have no number, or the descriptor has a fault.
    public private(set) var inputNumbers: [UInt8] = []
    /// The first fault. Its reports then count as unnumbered.
    public private(set) var fault: Fault?

    /// Whether the first byte of an input report is its number.
    public var numbersReports: Bool { !inputNumbers.isEmpty }

    public init(_ bytes: [UInt8]) {
        var reading = Reading()
        do throws(Fault) {
            guard !bytes.isEmpty else { throw .empty }
            var place = 0
            while place < bytes.count { place = try reading.readItem(at: place, of: bytes) }
            inputNumbers = reading.input.sorted()
        } catch { fault = error }
    }

    /// The global items that matter here, at one place of the descriptor.
    private struct Reading {
        var number: UInt8 = 0
        var aside: [UInt8] = []
        var input: Set<UInt8> = []

        /// Applies the item at `place`, and returns the offset of the next one.
        mutating func readItem(at place: Int, of bytes: [UInt8]) throws(Fault) -> Int {
            let prefix = bytes[place]
            guard prefix != 0xfe else { return try Self.endOfLongItem(at: place, of: bytes) }
            let next = place + 1 + [0, 1, 2, 4][Int(prefix & 3)]
            guard next <= bytes.count else { throw .itemPastEnd(at: place) }
            // The tag and the type, without the size.
            switch prefix & 0xfc {
            case 0x80: if number != 0 { input.insert(number) }
            case 0x84: number = try Self.number(at: place, bytes[(place + 1)..<next])
            case 0xa4: aside.append(number)
            case 0xb4:
                guard let last = aside.popLast() else { throw .popWithoutPush(at: place) }
                number = last
            default: break
            }
            return next
        }

        /// A longer one is valid where its upper bytes are zero.
        private static func number(at place: Int, _ data: ArraySlice<UInt8>) throws(Fault) -> UInt8 {
            guard let number = data.first, number != 0, data.dropFirst().allSatisfy({ $0 == 0 }) else {
                throw .badNumber(at: place)
            }
            return number
        }

        /// Long items are unused; their second byte is the length of the data after the third.
        private static func endOfLongItem(at place: Int, of bytes: [UInt8]) throws(Fault) -> Int {
            guard place + 3 <= bytes.count, place + 3 + Int(bytes[place + 1]) <= bytes.count else {
                throw .itemPastEnd(at: place)
            }
            return place + 3 + Int(bytes[place + 1])
        }
    }
}

extension ReportDescriptor.Fault: Error, CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the report descriptor is empty"
        case .itemPastEnd(let place): "the report descriptor's item at byte \(place) goes past its end"
        case .badNumber(let place): "the report descriptor's item at byte \(place) gives a report number that cannot be"
        case .popWithoutPush(let place):
            "the report descriptor's item at byte \(place) takes back what was never put aside"
        }
    }
}
