// The distance classes of addresses, and the names that mean this machine.
import Testing

@testable import WakeTransfer

@Suite("How far addresses lie") struct AddressReachTests {
    private static let v4: [(address: [UInt8], reach: AddressReach)] = [
        ([127, 0, 0, 1], .machine), ([127, 255, 0, 9], .machine), ([0, 0, 0, 0], .machine), ([0, 1, 2, 3], .machine),
        ([169, 254, 169, 254], .link), ([224, 0, 0, 251], .link), ([255, 255, 255, 255], .link),
        ([10, 1, 2, 3], .site), ([172, 16, 0, 1], .site), ([172, 31, 255, 1], .site), ([192, 168, 1, 1], .site),
        ([100, 64, 0, 1], .site), ([100, 127, 9, 9], .site), ([198, 19, 0, 1], .site), ([203, 0, 113, 9], .site),
        ([8, 8, 8, 8], .world), ([172, 15, 0, 1], .world), ([172, 32, 0, 1], .world), ([100, 63, 0, 1], .world),
        ([100, 128, 0, 1], .world), ([192, 169, 0, 1], .world), ([169, 253, 1, 1], .world), ([223, 1, 1, 1], .world),
    ]

    /// Sixteen bytes with zeros in the middle.
    private static func v6(_ first: [UInt8], _ last: [UInt8] = []) -> [UInt8] {
        first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    @Test("loopback, the link, private networks and the world are told apart, in each form of IPv6 that holds IPv4 too")
    func reaches() {
        let middle = [UInt8](repeating: 0, count: 8)
        for (address, reach) in Self.v4 {
            #expect(AddressReach(address) == reach, "\(address)")
            #expect(AddressReach(Self.v6([], [0xFF, 0xFF] + address)) == reach, "mapped \(address)")
            #expect(AddressReach(middle + [0xFF, 0xFF, 0, 0] + address) == reach, "translated \(address)")
            #expect(AddressReach(Self.v6([0, 0x64, 0xFF, 0x9B], address)) == reach, "NAT64 \(address)")
            #expect(AddressReach(Self.v6([0x20, 0x02] + address)) == reach, "6to4 \(address)")
        }
        let own: [([UInt8], AddressReach)] = [
            (Self.v6([], [1]), .machine), (Self.v6([], []), .machine), (Self.v6([], [10, 0, 0, 1]), .site),
            (Self.v6([0xFE, 0x80], [1]), .link), (Self.v6([0xFE, 0xBF], [1]), .link), (Self.v6([0xFF, 2], [1]), .link),
            (Self.v6([0xFC], [1]), .site), (Self.v6([0xFD, 9], [1]), .site), (Self.v6([0xFE, 0xC0], [1]), .site),
            (Self.v6([0, 0x64, 0xFF, 0x9B, 0, 1], [1]), .site), (Self.v6([0x20, 1, 0, 0, 9], [1]), .site),
            (Self.v6([0x20, 1, 0x48, 0x60], [0x88]), .world), (Self.v6([0x26, 6], [1]), .world), ([1, 2, 3], .machine),
        ]
        for (address, reach) in own { #expect(AddressReach(address) == reach, "\(address)") }
        #expect(AddressReach.machine < .link && .link < .site && .site < .world)
    }

    @Test("the name of a host is its part before the port; localhost and what lies below it is this machine")
    func names() throws {
        for (text, name, isLocal) in [
            ("http://h:80/f", "h", false), ("http://[::1]:8/f", "[::1]", false), ("http://[::1]", "[::1]", false),
            ("http://LOCALHOST:1/", "localhost", true), ("https://localhost./", "localhost.", true),
            ("http://a.localhost/", "a.localhost", true), ("http://notlocalhost/", "notlocalhost", false),
        ] {
            let address = try #require(WebAddress(text))
            #expect(address.name == name && address.isLocalhost == isLocal, "\(text)")
        }
    }
}
