// A Bluetooth device address as a number, so that an advertisement of a stranger costs one look into a table.

public struct RadioAddress: Hashable, Sendable {
    /// 48 bits, the byte that is written first highest.
    public let number: UInt64

    public init(number: UInt64) { self.number = number & 0xffff_ffff_ffff }

    /// Six bytes as they go over the air, the last first; nil for another number of them.
    public init?(sent bytes: some BidirectionalCollection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        self.init(number: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// `C0:F1:F2:F3:F4:01`, in either case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else { return nil }
        self.init(number: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// As they go over the air.
    public var sent: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) } }
}

extension RadioAddress: CustomStringConvertible {
    /// In upper case, as bluetoothd writes it.
    public var description: String {
        sent.reversed().map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
    }
}
