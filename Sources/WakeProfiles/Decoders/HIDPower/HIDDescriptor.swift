// Reads a HID report descriptor item by item, and keeps the fields of power devices and battery systems.
import WakeModel

struct HIDDescriptor {
    /// Items that stay until they are changed.
    private struct Globals {
        var page: UInt32 = 0
        var logicalMinimum: Int64 = 0
        /// As it is written: whether it is signed depends on the minimum.
        var logicalMaximum: (value: UInt64, width: Int) = (0, 0)
        var physicalMinimum: Int64 = 0
        var physicalMaximum: Int64 = 0
        var exponent = 0
        var unit: UInt32 = 0
        var size = 0
        var count = 0
        var report: UInt8 = 0
    }
    /// Items that end with the next main item.
    private struct Locals {
        var usages: [UInt32] = []
        var minimum: UInt32?
        var maximum: UInt32?
    }
    private enum Main {
        static let input: UInt8 = 0x80, output: UInt8 = 0x90, feature: UInt8 = 0xb0, collection: UInt8 = 0xa0,
            end: UInt8 = 0xc0
    }

    private static let (mostFields, mostBits, deepest) = (4_096, 65_536, 32)

    private(set) var fields: [HIDPowerLayout.Field] = []
    private(set) var lengths: [[UInt8]: Int] = [:]
    private(set) var hasNumbers = false

    private var globals = Globals()
    private var locals = Locals()
    private var saved: [Globals] = []
    private var collections: [UInt32] = []

    mutating func read(_ bytes: [UInt8]) throws(DecoderFault) {
        var reader = ByteReader(bytes)
        while reader.left > 0 {
            let prefix = try reader.byte()
            // A long item, of which none is defined.
            if prefix == 0xfe {
                let length = Int(try reader.byte())
                _ = try reader.take(length + 1)
                continue
            }
            let width = [0, 1, 2, 4][Int(prefix & 3)]
            try take(prefix & 0xfc, reader.take(width))
        }
        guard collections.isEmpty else {
            throw DecoderFault.unfit("cut short: the report descriptor ends in a collection")
        }
    }

    private mutating func take(_ item: UInt8, _ data: ArraySlice<UInt8>) throws(DecoderFault) {
        switch item >> 2 & 3 {
        case 0: try takeMain(item, data)
        case 1: try takeGlobal(item, data)
        case 2: takeLocal(item, data)
        default: return
        }
    }

    private mutating func takeMain(_ item: UInt8, _ data: ArraySlice<UInt8>) throws(DecoderFault) {
        switch item {
        case Main.collection:
            guard collections.count < Self.deepest else {
                throw DecoderFault.unfit("collections more than \(Self.deepest) deep")
            }
            collections.append(locals.usages.last ?? 0)
        case Main.end:
            guard collections.popLast() != nil else {
                throw DecoderFault.unfit("the end of a collection that has not begun")
            }
        case Main.input: try addFields(isFeature: false, flags: data.littleEndianNumber)
        case Main.feature: try addFields(isFeature: true, flags: data.littleEndianNumber)
        default: break
        }
        locals = Locals()
    }

    private mutating func takeGlobal(_ item: UInt8, _ data: ArraySlice<UInt8>) throws(DecoderFault) {
        let (signed, unsigned) = (data.isEmpty ? 0 : data.littleEndianSigned, data.littleEndianNumber)
        switch item {
        case 0x04: globals.page = UInt32(truncatingIfNeeded: unsigned & 0xffff)
        case 0x14: globals.logicalMinimum = signed
        case 0x24: globals.logicalMaximum = (unsigned, data.count)
        case 0x34: globals.physicalMinimum = signed
        case 0x44: globals.physicalMaximum = signed
        // Four bits in two's complement, whatever a device writes above them.
        case 0x54: globals.exponent = Int(unsigned & 7) - Int(unsigned & 8)
        case 0x64: globals.unit = UInt32(truncatingIfNeeded: unsigned)
        case 0x74: globals.size = Int(min(unsigned, UInt64(Self.mostBits)))
        case 0x84:
            hasNumbers = true
            globals.report = UInt8(truncatingIfNeeded: unsigned)
        case 0x94: globals.count = Int(min(unsigned, UInt64(Self.mostBits)))
        case 0xa4:
            guard saved.count < Self.deepest else {
                throw DecoderFault.unfit("states saved more than \(Self.deepest) deep")
            }
            saved.append(globals)
        case 0xb4:
            guard let last = saved.popLast() else { throw DecoderFault.unfit("a state is restored that was not saved") }
            globals = last
        default: return
        }
    }

    private mutating func takeLocal(_ item: UInt8, _ data: ArraySlice<UInt8>) {
        let number = UInt32(truncatingIfNeeded: data.littleEndianNumber)
        let usage = data.count == 4 ? number : globals.page << 16 | number
        switch item {
        case 0x08: if locals.usages.count < Self.mostFields { locals.usages.append(usage) }
        case 0x18: locals.minimum = usage
        case 0x28: locals.maximum = usage
        default: return
        }
    }

    private var usages: [UInt32] {
        guard let first = locals.minimum, let last = locals.maximum, first <= last, last - first < Self.mostFields
        else {
            return locals.usages
        }
        return locals.usages + Array(first...last)
    }

    private mutating func addFields(isFeature: Bool, flags: UInt64) throws(DecoderFault) {
        let key: [UInt8] = [isFeature ? 1 : 0, globals.report]
        let start = lengths[key] ?? 0
        let (bits, isTooLarge) = globals.size.multipliedReportingOverflow(by: globals.count)
        guard !isTooLarge, start + bits <= Self.mostBits else {
            throw DecoderFault.unfit("a report of more than 8 KiB")
        }
        lengths[key] = start + bits
        let usages = usages
        // Bit 1 is of a variable; an array holds numbers of usages, which no power device sends.
        guard flags & 2 != 0, (1...64).contains(globals.size) else { return }
        for index in 0..<globals.count {
            // The last usage is that of all that follow.
            guard let usage = index < usages.count ? usages[index] : usages.last, fields.count < Self.mostFields else {
                return
            }
            guard let known = HIDPowerUsage(usage, unit: globals.unit, in: collections) else { continue }
            fields.append(
                HIDPowerLayout.Field(
                    isFeature: isFeature, report: globals.report, offset: start + index * globals.size,
                    width: globals.size, scale: scale(of: known), name: known.name, isFlag: known.isFlag,
                    // Bit 6 of the item (HID 1.11, 6.2.2.5).
                    hasNullState: flags & 0x40 != 0))
        }
    }

    private func scale(of usage: HIDPowerUsage) -> HIDScale {
        let maximum = globals.logicalMaximum
        let written = Int64(clamping: maximum.value)
        let unused = UInt64(64 - 8 * max(1, maximum.width))
        let signed = Int64(bitPattern: maximum.value << unused) >> Int64(unused)
        let logicalMaximum = globals.logicalMinimum < 0 || signed >= 0 ? signed : written
        let logical =
            globals.logicalMinimum <= logicalMaximum ? globals.logicalMinimum...logicalMaximum : Int64.min...Int64.max
        let hasPhysical = globals.physicalMinimum < globals.physicalMaximum
        return HIDScale(
            logical: logical, physical: hasPhysical ? globals.physicalMinimum...globals.physicalMaximum : logical,
            exponent: globals.exponent - usage.base, isKelvin: usage.isKelvin)
    }
}
