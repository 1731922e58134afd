// Beacons in advertisements, and when the regions that they make are entered and left.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

private let uuid = BluetoothUUID(high: 0xf782_6da6_4fa2_4e98, low: 0x8024_bc5b_71e0_893e)
private let uuidText = "f7826da64fa24e988024bc5b71e0893e"

@Suite("Beacons")
struct BeaconTests {
    @Test(
        "each form is known by its own bytes, and nothing else is one",
        arguments: [
            ("0201061aff4c000215\(uuidText)00010002c5", .iBeacon(uuid: uuid, major: 1, minor: 2)),
            ("1bff1801beac\(uuidText)00010002c500", .altBeacon(uuid: uuid, major: 1, minor: 2)),
            (
                "0303aafe1716aafe00ed00112233445566778899aabbccddeeff0000",
                .eddystone(
                    namespace: [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99],
                    instance: [0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff])
            ),
            ("1aff4d000215\(uuidText)00010002c5", nil), ("19ff4c000215\(uuidText)00010002", nil),
            ("1716aafe20ed00112233445566778899aabbccddeeff0000", nil), ("", nil), ("ff", nil),
        ] as [(String, Beacon?)])
    func forms(hexadecimal: String, expected: Beacon?) throws {
        #expect(Beacon(advertisement: try #require([UInt8](hexadecimal: hexadecimal))) == expected)
    }

    @Test("no bytes crash the reading of one")
    func noise() {
        var dice = Dice(3)
        for _ in 0..<20_000 {
            var bytes = [UInt8]("\u{1a}".utf8) + [0xff, 0x4c, 0x00, 0x02, 0x15]
            bytes += (0..<dice.below(30)).map { _ in UInt8(dice.below(256)) }
            _ = Beacon(advertisement: Array(bytes.prefix(dice.below(bytes.count + 1))))
        }
    }

    @Test("a part that a region does not say is any, and one that it says must be it")
    func patterns() {
        let beacon = Beacon.iBeacon(uuid: uuid, major: 1, minor: 2)
        #expect(BeaconPattern.iBeacon(uuid: uuid, major: nil, minor: nil).fits(beacon))
        #expect(BeaconPattern.iBeacon(uuid: uuid, major: 1, minor: nil).fits(beacon))
        #expect(!BeaconPattern.iBeacon(uuid: uuid, major: 1, minor: 3).fits(beacon))
        #expect(!BeaconPattern.altBeacon(uuid: uuid, major: nil, minor: nil).fits(beacon))
    }
}

@Suite("Regions of beacons")
struct BeaconRegionTests {
    private let shop = BeaconPattern.iBeacon(uuid: uuid, major: 1, minor: nil)
    private let shelf = Beacon.iBeacon(uuid: uuid, major: 1, minor: 7)

    private func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }

    @Test("the first sighting enters a region, and 30 s without one leave it")
    func entersAndLeaves() {
        var regions = BeaconRegions()
        regions.watch([shop], at: seconds(0))
        #expect(regions.hear(shelf, at: seconds(5)) == [shop] && regions.hear(shelf, at: seconds(6)).isEmpty)
        #expect(regions.settle(at: seconds(35)).isEmpty && regions.nextEnd == seconds(36))
        #expect(regions.settle(at: seconds(36)) == [shop] && regions.settle(at: seconds(100)).isEmpty)
        #expect(regions.hear(shelf, at: seconds(101)) == [shop])
    }

    @Test("a beacon that was not heard for 30 s since it is watched is known to be away")
    func neverSeen() {
        var regions = BeaconRegions()
        regions.watch([shop], at: seconds(10))
        #expect(regions.settle(at: seconds(39)).isEmpty && regions.settle(at: seconds(40)) == [shop])
        #expect(regions.nextEnd == nil)
    }

    @Test("without any radio nothing is known; with one again, 30 s of it show where the beacons are")
    func lost() {
        var regions = BeaconRegions()
        regions.watch([shop], at: seconds(0))
        _ = regions.hear(shelf, at: seconds(1))
        #expect(regions.lose(at: seconds(20)) == [shop] && regions.lose(at: seconds(20)).isEmpty)
        #expect(regions.settle(at: seconds(49)).isEmpty && regions.settle(at: seconds(50)) == [shop])
        #expect(regions.lose(at: seconds(60)) == [shop] && regions.settle(at: seconds(60)).isEmpty)
        #expect(regions.hear(shelf, at: seconds(61)) == [shop])
    }

    @Test("one of several beacons of a region keeps it, though the others are silent")
    func severalBeacons() {
        var regions = BeaconRegions()
        regions.watch([shop], at: seconds(0))
        _ = regions.hear(shelf, at: seconds(0))
        for turn in 1...20 {
            _ = regions.hear(.iBeacon(uuid: uuid, major: 1, minor: 8), at: seconds(Int64(turn) * 20))
            #expect(regions.settle(at: seconds(Int64(turn) * 20 + 19)).isEmpty)
        }
    }

    @Test("manifests that change leave alone what is known of the regions that they still have")
    func watchedAgain() {
        var regions = BeaconRegions()
        regions.watch([shop], at: seconds(0))
        _ = regions.hear(shelf, at: seconds(1))
        regions.watch([shop, .altBeacon(uuid: uuid, major: nil, minor: nil)], at: seconds(2))
        #expect(regions.hear(shelf, at: seconds(3)).isEmpty)
        regions.watch([], at: seconds(4))
        #expect(regions.isEmpty && regions.hear(shelf, at: seconds(5)).isEmpty)
    }
}
