// A packet of Bluetooth LE as it passed over the air, with the receiver's report about it.
import WakeHCI

struct AirPacket {
    enum Direction {
        case toPeripheral, toCentral
    }

    /// How a link's packets are protected, as the sniffer reports.
    enum Protection {
        /// Not reported.
        case unknown
        case encrypted
        case decrypted
    }

    static let advertising: UInt32 = 0x8e89_bed6

    var accessAddress: UInt32 = 0
    /// Header, payload and the three bytes of the check.
    var unit: ArraySlice<UInt8> = []
    var direction: Direction?
    /// Nil where it was not checked.
    var isGood: Bool?
    var protection = Protection.unknown
    /// Whether all that its kind of capture puts before it is there.
    var isWhole = false

    init(plain bytes: ArraySlice<UInt8>) { set(bytes) }

    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: channel, strengths, a reference, and flags.
    init(heard bytes: ArraySlice<UInt8>) {
        guard let flags = bytes.word(8) else { return }
        if flags & 0x0400 != 0 { isGood = flags & 0x0800 != 0 }
        if flags & 0x0008 != 0 { protection = .decrypted }
        switch flags >> 7 & 7 {
        case 2: direction = .toPeripheral
        case 3: direction = .toCentral
        default: break
        }
        let isCoded = flags >> 14 == 2
        set(bytes.dropFirst(10), skipping: isCoded ? 1 : 0)
    }

    /// nRF Sniffer: a board, a header of six bytes whose third is its version, and a header of ten about the reception.
    init(nordic bytes: ArraySlice<UInt8>) {
        guard let length = bytes.byte(7), let flags = bytes.byte(8), bytes.byte(3).map({ $0 <= 3 }) == true else {
            return
        }
        isGood = flags & 1 != 0
        direction = flags & 2 != 0 ? .toPeripheral : .toCentral
        if flags & 4 != 0 { protection = flags & 8 != 0 ? .decrypted : .encrypted }
        set(bytes.dropFirst(7 + Int(length)), skipping: flags >> 4 & 7 == 2 ? 1 : 0)
    }

    private mutating func set(_ bytes: ArraySlice<UInt8>, skipping coding: Int = 0) {
        guard let address = bytes.number(0, 4, .little), let length = bytes.byte(5 + coding),
            let unit = bytes.slice(4 + coding, 2 + Int(length) + 3)
        else { return }
        (accessAddress, self.unit, isWhole) = (UInt32(address), unit, true)
    }

    /// Whether the check fits, begun with the link's seed.
    func fits(_ seed: UInt32) -> Bool {
        var state = Self.reversed(seed)
        for byte in unit.dropLast(3) {
            for bit in 0..<8 {
                let isOdd = (state ^ UInt32(byte) >> UInt32(bit)) & 1 == 1
                state >>= 1
                if isOdd { state = (state | 1 << 23) ^ 0x5a_6000 }
            }
        }
        return unit.number(unit.count - 3, 3, .little) == UInt64(state)
    }

    private static func reversed(_ seed: UInt32) -> UInt32 {
        (0..<24).reduce(UInt32(0)) { value, bit in value << 1 | seed >> UInt32(bit) & 1 }
    }
}
