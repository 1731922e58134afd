// The library's values as Foundation's.
import Foundation
import Testing
import WakeHandlerFoundation

@testable import WakeHandler

@Suite("The library's values with Foundation")
struct FoundationTests {
    @Test("a time becomes a date of the same microsecond, and comes back")
    func dates() throws {
        let time = try #require(Timestamp("2026-11-21T07:42:46.727125Z"))
        #expect(abs(time.date.timeIntervalSince1970 - 1_795_246_966.727125) < 1e-6)
        #expect(Timestamp(time.date) == time)
        #expect(Timestamp(Date(timeIntervalSince1970: -1.5)).microsecondsSince1970 == -1_500_000)
    }

    @Test("a characteristic becomes the UUID that CoreBluetooth shows, and comes back")
    func uuids() throws {
        let rate: Characteristic = 0x2a37
        #expect(rate.uuid.uuidString == "00002A37-0000-1000-8000-00805F9B34FB")
        #expect(Characteristic(rate.uuid) == rate)
        let own = try #require(UUID(uuidString: "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"))
        #expect(Characteristic(own).uuid == own)
    }

    @Test("bytes that a device or a person sent are data")
    func data() {
        let beat = PeripheralData(characteristic: 0x2a37, bytes: [16, 73], value: nil, undecodable: nil)
        let line = AccessoryData(stream: "serial", bytes: [36], value: nil, undecodable: nil, fragment: nil)
        #expect(beat.data == Data([16, 73]) && line.data == Data([36]))
    }
}
