// Classes of addresses by their distance from this machine; they decide where a server may redirect a request to.

/// Ordered from near to far. A server may redirect a request to no nearer address than its own, since near services
/// trust near clients.
public enum AddressReach: Int, Hashable, Sendable, Comparable {
    /// Loopback, and addresses that mean any address of this machine.
    case machine
    /// Link-local addresses, where clouds keep their machines' credentials, and multicast addresses; no router forwards
    /// them.
    case link
    /// Private networks, and reserved addresses.
    case site
    case world

    public static func < (left: AddressReach, right: AddressReach) -> Bool { left.rawValue < right.rawValue }

    /// - Parameter bytes: four for IPv4, or sixteen for IPv6. Any other number counts as the nearest.
    public init(_ bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.init(v4: bytes)
        case 16: self.init(v6: bytes)
        default: self = .machine
        }
    }

    private init(v4 bytes: [UInt8]) {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (127, _, _): self = .machine
        case (169, 254, _), (224..., _, _): self = .link
        case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): self = .site
        // Reserved for protocols, documentation and benchmarks.
        case (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113): self = .site
        default: self = .world
        }
    }

    private init(v6 bytes: [UInt8]) {
        if let inner = Self.inner(of: bytes) {
            self.init(v4: inner)
            return
        }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0, 0, _, _): self = .machine
        case (0xFE, 0x80...0xBF, _, _), (0xFF, _, _, _): self = .link
        case (0xFC...0xFD, _, _, _), (0xFE, 0xC0...0xFF, _, _): self = .site
        // Local-use translation, discard-only, Teredo and documentation prefixes.
        case (0, 0x64, 0xFF, 0x9B), (1, 0, _, _), (0x20, 0x01, 0, 0), (0x20, 0x01, 0x0D, 0xB8): self = .site
        default: self = .world
        }
    }

    /// The IPv4 address inside an IPv6 one: mapped, compatible, translated, by NAT64 or by 6to4.
    private static func inner(of bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: [0x20, 0x02]) { return Array(bytes[2..<6]) }
        let (front, last) = (Array(bytes.prefix(12)), Array(bytes.suffix(4)))
        let zeros = [UInt8](repeating: 0, count: 8)
        switch front {
        case zeros + [0, 0, 0xFF, 0xFF], zeros + [0xFF, 0xFF, 0, 0], [0, 0x64, 0xFF, 0x9B] + zeros: return last
        // The unspecified address and loopback belong to IPv6 itself.
        case zeros + [0, 0, 0, 0]: return last.dropLast().allSatisfy { $0 == 0 } ? nil : last
        default: return nil
        }
    }
}
