// An advertisement as far as bluetoothd tells of it: AD structures made again of a peripheral's data, where the bytes themselves
// cannot be had.
import WakeModel

extension BluezPeripheral {
    /// Service data by UUID, then manufacturer data by company, so that the same data are always the same bytes; nil without any.
    public var advertisement: [UInt8]? {
        guard !serviceData.isEmpty || !manufacturerData.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for (uuid, data) in serviceData.sorted(by: { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) }) {
            bytes.appendServiceData(uuid, data)
        }
        for (company, data) in manufacturerData.sorted(by: { $0.key < $1.key }) {
            bytes.appendStructure(0xff, [UInt8(company & 0xff), UInt8(company >> 8)] + data)
        }
        return bytes
    }
}

extension [UInt8] {
    /// One with the shortest form of the UUID (Assigned Numbers, 2.3): types 16, 20 and 21.
    fileprivate mutating func appendServiceData(_ uuid: BluetoothUUID, _ data: [UInt8]) {
        guard let short = uuid.short else {
            let whole = Self.littleEndian(uuid.low, 8) + Self.littleEndian(uuid.high, 8)
            return appendStructure(0x21, whole + data)
        }
        let isShort = short <= UInt16.max
        appendStructure(isShort ? 0x16 : 0x20, Self.littleEndian(UInt64(short), isShort ? 2 : 4) + data)
    }

    fileprivate mutating func appendStructure(_ type: UInt8, _ data: [UInt8]) {
        guard let length = UInt8(exactly: data.count + 1) else { return }
        self += [length, type] + data
    }

    static func littleEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}
