// Faults of single makers of meters, all in this place, each with where owners reported it.
import WakeModel

/// Corrects the readings of one maker's meters. No other part of the decoder knows a maker.
struct SMLMaker {
    /// DZG's DVS74 send 327.68 to 655.35 W as a negative number of 16 bits. The maker named the numbers of these meters.
    /// Sources: volkszaehler/libsml, issues 59 and 105, pull request 136.
    private static let faultyNumbers = [42_000_000...48_999_999, 55_000_000...58_999_999]
    /// EMH's ED300L and others send the power without a sign, and the direction in the status word of the energy: bit 5 is
    /// set while the owner delivers. Sources: volkszaehler/libsml, issue 101; arendst/Tasmota, issue 8001; the meters'
    /// specification by FNN, EDL 1.0, status word.
    private static let deliveryBit: UInt64 = 1 << 5

    private let hasFaultyPower: Bool
    private let isDelivering: Bool

    /// - Parameter entries: all readings of the meter, seven parts each.
    init(server: [UInt8], entries: [[SMLValue]]) {
        hasFaultyPower =
            Self.number(of: server, maker: "DZG").map { number in
                Self.faultyNumbers.contains { $0.contains(number) }
            } ?? false
        isDelivering =
            server.dropFirst().starts(with: "EMH".utf8)
            && entries.contains { entry in
                guard let name = entry[0].octets, name.starts(with: [1, 0, 1, 8, 0]),
                    case .unsigned(let status) = entry[1]
                else { return false }
                return status & Self.deliveryBit != 0
            }
    }

    /// Reads an identification by DIN 43863-5: ten bytes, with three letters of the maker and the number in the last four.
    private static func number(of server: [UInt8], maker: String) -> Int? {
        guard server.count == 10, server.dropFirst(2).starts(with: maker.utf8) else { return nil }
        return Int(server.suffix(4).bigEndianNumber)
    }

    func corrected(_ value: SMLValue, of name: [UInt8]) -> SMLValue {
        guard name.starts(with: [1, 0]), name.count == 6, name[3] == 7, name[4] == 0 else { return value }
        switch (name[2], value) {
        case (16, .signed(let number, bytes: 1...2)), (36, .signed(let number, bytes: 1...2)),
            (56, .signed(let number, bytes: 1...2)), (76, .signed(let number, bytes: 1...2)):
            return hasFaultyPower && number < 0 ? .unsigned(UInt64(UInt16(truncatingIfNeeded: number))) : value
        case (15, _):
            guard isDelivering, let number = value.number, number > 0 else { return value }
            return .signed(-number, bytes: 8)
        default: return value
        }
    }
}
