// A HID report descriptor, read for one thing: whether the device's reports begin with their number.

/// What a device says of its reports, and no more to be believed than anything a device says.
public struct ReportDescriptor: Hashable, Sendable {
    public enum Fault: Hashable, Sendable {
        case empty
        /// The item at this place claims more bytes than are left.
        case itemPastEnd(at: Int)
        /// A report number must be 1 to 255, in one byte.
        case badNumber(at: Int)
        /// The item takes back what was never put aside.
        case popWithoutPush(at: Int)
    }

    /// Ascending; empty where input reports have no number, or the descriptor has a fault.
    public private(set) var inputNumbers: [UInt8] = []
    /// The first thing in it that cannot be. Its reports are then taken for unnumbered.
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

    /// The global items that matter here, as they stand at one place.
    private struct Reading {
        var number: UInt8 = 0
        var aside: [UInt8] = []
        var input: Set<UInt8> = []

        /// Takes the item at `place` in, and returns where the next one begins.
        mutating func readItem(at place: Int, of bytes: [UInt8]) throws(Fault) -> Int {
            let prefix = bytes[place]
            guard prefix != 0xfe else { return try Self.endOfLongItem(at: place, of: bytes) }
            let next = place + 1 + [0, 1, 2, 4][Int(prefix & 3)]
            guard next <= bytes.count else { throw .itemPastEnd(at: place) }
            // The tag and the type; what is left out is the size.
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

        /// Longer ones are fine where the upper bytes say nothing.
        private static func number(at place: Int, _ data: ArraySlice<UInt8>) throws(Fault) -> UInt8 {
            guard let number = data.first, number != 0, data.dropFirst().allSatisfy({ $0 == 0 }) else {
                throw .badNumber(at: place)
            }
            return number
        }

        /// Nothing uses long items; their second byte is the length of what follows the third.
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
