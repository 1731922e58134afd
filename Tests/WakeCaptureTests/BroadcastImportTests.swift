// Devices that only broadcast: what they are known by is in several of their broadcasts, not in the first alone.
import Testing
import WakeModel

@testable import WakeCapture

@Suite("Imported broadcasts")
struct BroadcastImportTests {
    private static let address: [UInt8] = [0x50, 0x40, 0x30, 0x20, 0x10, 0xe3]
    private static let beacon: [UInt8] =
        [0x1a, 0xff, 0x4c, 0x00, 0x02, 0x15] + [UInt8](repeating: 7, count: 16) + [0, 1, 0, 2, 0xc5]
    private static let flags: [UInt8] = [2, 1, 6]
    private static let name: [UInt8] = [6, 9, 0x53, 0x63, 0x61, 0x6c, 0x65]
    private static func reading(_ value: UInt8) -> [UInt8] { [6, 0xff, 0x88, 0xec, 0x00, value, 0x02] }

    /// What a controller tells of one broadcast, or of the answer to a scan.
    private func report(_ data: [UInt8], type: UInt8) -> [UInt8] {
        let body = [2, 1, type, 1] + Self.address + [UInt8(data.count)] + data + [0xc4]
        return [4, 0x3e, UInt8(body.count)] + body
    }

    private func imported(_ broadcasts: [(data: [UInt8], type: UInt8)]) throws -> ImportResult {
        var writer = BtsnoopWriter(.h4)
        for (place, broadcast) in broadcasts.enumerated() {
            let time = WallTime(microseconds: 1_795_000_000_000_000 + Int64(place) * 1000)
            writer.add(report(broadcast.data, type: broadcast.type)[...], flags: 3, at: time)
        }
        var terms = ImportTerms()
        terms.takesBroadcasts = true
        return try TraceImport.run(writer.bytes, terms)
    }

    @Test("a device is known by its scan response as well, and each broadcast stays a value")
    func scanResponse() throws {
        let broadcasts = [(Self.flags, UInt8(0)), (Self.name + Self.reading(1), 4), (Self.name + Self.reading(2), 4)]
        let result = try imported(broadcasts)
        #expect(result.header.devices.map(\.advertisement) == [Self.flags + Self.name + Self.reading(1)])
        #expect(result.header.devices.map(\.name) == ["Scale"])
        #expect(result.operations.count == 3 && result.counts.advertisements == 3)
    }

    @Test("a beacon tells what a device is only where nothing else does")
    func beacons() throws {
        let alone = try imported([(Self.flags + Self.beacon, 0)])
        #expect(alone.header.devices.map(\.advertisement) == [Self.flags + Self.beacon])
        for order in [[0, 1], [1, 0]] {
            let both = [(Self.flags + Self.beacon, UInt8(0)), (Self.reading(1), 4)]
            let result = try imported(order.map { both[$0] })
            #expect(result.header.devices.allSatisfy { Set($0.advertisement) == Set(Self.flags + Self.reading(1)) })
            #expect(result.operations.count == 2)
        }
    }

    @Test("many kinds of data, and data that ends early, make no endless header")
    func many() throws {
        let kinds = (0..<200).map { ([4, 0xff, 0x88, 0xec, UInt8($0)], UInt8(0)) }
        let result = try imported(kinds + [([9, 0xff, 0x88], 0), ([2, 1, 6, 0, 0], 0)])
        #expect(result.header.devices.map(\.advertisement.count) == [16 * 5])
    }
}
