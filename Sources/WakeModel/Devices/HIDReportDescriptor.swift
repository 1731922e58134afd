// Parses a HID report descriptor (HID 1.11, 6.2.2): the fields of each report, or the first fault.

/// Pure; a device may send any bytes. With a fault there are no fields.
public struct HIDReportDescriptor: Hashable, Sendable {
    public enum Direction: Hashable, Sendable { case input, output, feature }

    /// A report has the fields of one direction and one number.
    public struct Report: Hashable, Sendable {
        public var direction: Direction
        /// Zero where the device does not number its reports.
        public var number: UInt8

        public init(_ direction: Direction, _ number: UInt8) { (self.direction, self.number) = (direction, number) }
    }

    /// The values of items that stay until they are changed.
    public struct Globals: Hashable, Sendable {
        fileprivate var page: UInt32 = 0
        fileprivate var report: UInt8 = 0
        public fileprivate(set) var logicalMinimum: Int64 = 0
        /// As it is written, with its bytes: whether it is signed depends on the minimum.
        public fileprivate(set) var logicalMaximum: UInt64 = 0
        public fileprivate(set) var logicalMaximumWidth = 0
        public fileprivate(set) var physicalMinimum: Int64 = 0
        public fileprivate(set) var physicalMaximum: Int64 = 0
        public fileprivate(set) var exponent = 0
        public fileprivate(set) var unit: UInt32 = 0
        /// Bits of each value.
        public fileprivate(set) var size = 0
        /// Values of the field.
        public fileprivate(set) var count = 0
    }

    /// The values that one main item declares.
    public struct Field: Hashable, Sendable {
        public let report: Report
        /// The first bit, after the report's number.
        public let offset: Int
        public let globals: Globals
        public let flags: UInt64
        /// The usages of the collections around it, the outermost first.
        public let collections: [UInt32]
        fileprivate let locals: Locals

        /// A usage for each value; the last one is that of all that follow.
        public var usages: [UInt32] {
            guard let first = locals.minimum, let last = locals.maximum, first <= last, last - first < Limit.usages
            else { return locals.usages }
            return locals.usages + Array(first...last)
        }
    }

    /// The values of items that end with the next main item.
    fileprivate struct Locals: Hashable {
        var usages: [UInt32] = []
        var minimum: UInt32?
        var maximum: UInt32?
    }

    fileprivate enum Limit {
        static let usages = 4_096
        static let depth = 32
        /// The kernel's HID_MAX_BUFFER_SIZE, in bits.
        static let bits = 16_384 * 8
    }

    public private(set) var fields: [Field] = []
    /// The bits of each report, without its number.
    public private(set) var bits: [Report: Int] = [:]
    /// Whether any item gives a number to the reports after it.
    public private(set) var declaresNumbers = false
    public private(set) var hasCollections = false
    public private(set) var fault: Fault?

    private var globals = Globals()
    private var locals = Locals()
    private var saved: [Globals] = []
    private var collections: [UInt32] = []

    public init(_ bytes: some Collection<UInt8>) {
        do throws(Fault) {
            try read(Array(bytes))
        } catch {
            (fields, bits, declaresNumbers, fault) = ([], [:], false, error)
        }
    }

    private mutating func read(_ bytes: [UInt8]) throws(Fault) {
        guard !bytes.isEmpty else { throw .empty }
        var place = 0
        while place < bytes.count {
            let prefix = bytes[place]
            // A long item, of which none is defined: its second byte is the length of the data after the third.
            let isLong = prefix == 0xfe
            let head = isLong ? 3 : 1
            guard place + head <= bytes.count else { throw .itemPastEnd(at: place) }
            let end = place + head + (isLong ? Int(bytes[place + 1]) : [0, 1, 2, 4][Int(prefix & 3)])
            guard end <= bytes.count else { throw .itemPastEnd(at: place) }
            if !isLong { try take(prefix & 0xfc, ItemData(bytes[(place + head)..<end]), at: place) }
            place = end
        }
        guard collections.isEmpty else { throw .unclosedCollection }
    }

    private mutating func take(_ item: UInt8, _ data: ItemData, at place: Int) throws(Fault) {
        switch item >> 2 & 3 {
        case 0: try takeMain(item, data, at: place)
        case 1: try takeGlobal(item, data, at: place)
        case 2: takeLocal(item, data)
        default: return
        }
    }

    private mutating func takeMain(_ item: UInt8, _ data: ItemData, at place: Int) throws(Fault) {
        switch item {
        case 0x80: try addField(.input, data, at: place)
        case 0x90: try addField(.output, data, at: place)
        case 0xb0: try addField(.feature, data, at: place)
        case 0xa0:
            guard collections.count < Limit.depth else { throw .tooDeep(at: place) }
            collections.append(locals.usages.last ?? 0)
            hasCollections = true
        case 0xc0: guard collections.popLast() != nil else { throw .endWithoutCollection(at: place) }
        default: break
        }
        locals = Locals()
    }

    private mutating func takeGlobal(_ item: UInt8, _ data: ItemData, at place: Int) throws(Fault) {
        switch item {
        case 0x04: globals.page = UInt32(truncatingIfNeeded: data.unsigned & 0xffff)
        case 0x14: globals.logicalMinimum = data.signed
        case 0x24: (globals.logicalMaximum, globals.logicalMaximumWidth) = (data.unsigned, data.width)
        case 0x34: globals.physicalMinimum = data.signed
        case 0x44: globals.physicalMaximum = data.signed
        // Four bits in two's complement, whatever a device writes above them.
        case 0x54: globals.exponent = Int(data.unsigned & 7) - Int(data.unsigned & 8)
        case 0x64: globals.unit = UInt32(truncatingIfNeeded: data.unsigned)
        case 0x74: globals.size = data.bounded
        case 0x84:
            guard (1...255).contains(data.unsigned) else { throw .badNumber(at: place) }
            (globals.report, declaresNumbers) = (UInt8(data.unsigned), true)
        case 0x94: globals.count = data.bounded
        case 0xa4:
            guard saved.count < Limit.depth else { throw .tooDeep(at: place) }
            saved.append(globals)
        case 0xb4:
            guard let last = saved.popLast() else { throw .popWithoutPush(at: place) }
            globals = last
        default: return
        }
    }

    private mutating func takeLocal(_ item: UInt8, _ data: ItemData) {
        let number = UInt32(truncatingIfNeeded: data.unsigned)
        let usage = data.width == 4 ? number : globals.page << 16 | number
        switch item {
        case 0x08: if locals.usages.count < Limit.usages { locals.usages.append(usage) }
        case 0x18: locals.minimum = usage
        case 0x28: locals.maximum = usage
        default: return
        }
    }

    private mutating func addField(_ direction: Direction, _ data: ItemData, at place: Int) throws(Fault) {
        let report = Report(direction, globals.report)
        let offset = bits[report] ?? 0
        let end = offset + globals.size * globals.count
        guard end <= Limit.bits else { throw .reportTooLong(at: place) }
        bits[report] = end
        fields.append(
            Field(
                report: report, offset: offset, globals: globals, flags: data.unsigned, collections: collections,
                locals: locals))
    }

    /// The data of one item: up to four bytes, the least first.
    private struct ItemData {
        let unsigned: UInt64
        let width: Int

        init(_ bytes: ArraySlice<UInt8>) {
            unsigned = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            width = bytes.count
        }

        var signed: Int64 {
            let unused = UInt64(64 - 8 * width)
            return width == 0 ? 0 : Int64(bitPattern: unsigned << unused) >> Int64(unused)
        }

        /// At most one past the limit, so that products do not overflow.
        var bounded: Int { Int(min(unsigned, UInt64(Limit.bits + 1))) }
    }
}

extension HIDReportDescriptor {
    /// Ascending; empty where input reports have no number.
    public var inputNumbers: [UInt8] {
        bits.keys.filter { $0.direction == .input && $0.number != 0 }.map(\.number).sorted()
    }

    /// Each place is the offset of an item.
    public enum Fault: Error, Hashable, Sendable {
        case empty
        /// It claims more bytes than are left.
        case itemPastEnd(at: Int)
        /// A report number must be 1 to 255.
        case badNumber(at: Int)
        case popWithoutPush(at: Int)
        case endWithoutCollection(at: Int)
        case unclosedCollection
        case tooDeep(at: Int)
        case reportTooLong(at: Int)
    }
}

extension HIDReportDescriptor.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the report descriptor is empty"
        case .itemPastEnd(let place): "the report descriptor's item at byte \(place) goes past its end"
        case .badNumber(let place): "the report descriptor's item at byte \(place) gives a report number that cannot be"
        case .popWithoutPush(let place):
            "the report descriptor's item at byte \(place) takes back what was never put aside"
        case .endWithoutCollection(let place):
            "the report descriptor's item at byte \(place) ends a collection that has not begun"
        case .unclosedCollection: "the report descriptor is cut short: it ends in a collection"
        case .tooDeep(let place): "the report descriptor's item at byte \(place) is more than 32 deep"
        case .reportTooLong(let place):
            "the report descriptor's item at byte \(place) makes a report of more than 16 KiB"
        }
    }
}
