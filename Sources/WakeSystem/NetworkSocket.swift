// TCP sockets: numeric addresses with ports, listening at one, and the ends of a connection.
import CLinux
import Glibc

/// A numeric address and a port: `127.0.0.1:8787`, `[::1]:8787`.
public struct NetworkAddress: Hashable, Sendable {
    /// Four or 16; an IPv4 address within IPv6 is an IPv4 address.
    public let bytes: [UInt8]
    public let port: UInt16

    init(bytes: [UInt8], port: UInt16) { (self.bytes, self.port) = (bytes, port) }

    /// Nil where it is no numeric address with a port of 1 to 65535.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0,
            let bytes = Self.bytes(of: text[..<colon])
        else { return nil }
        self.init(bytes: bytes, port: port)
    }

    /// The bytes of a numeric address without a port, of IPv6 in brackets; nil for anything else, such as a name.
    public static func bytes(of host: some StringProtocol) -> [UInt8]? {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":") else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_ADDRESS_BYTES))
        let count = clinux_read_address(isBracketed ? String(host.dropFirst().dropLast()) : String(host), &bytes)
        return count < 0 ? nil : Array(bytes.prefix(Int(count)))
    }

    /// Loopback, at a port that the kernel chooses.
    package static let anyPort = NetworkAddress(bytes: [127, 0, 0, 1], port: 0)

    /// Reaches this machine alone.
    public var isLoopback: Bool { Self.isLoopback(bytes) }

    public static func isLoopback(_ bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Means all addresses of the machine.
    public var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

    /// The address in its form for an address of the web: IPv6 in brackets.
    public var host: String {
        var text = [CChar](repeating: 0, count: Int(CLINUX_ADDRESS_TEXT))
        guard clinux_write_address(bytes, bytes.count, &text) >= 0 else { return "?" }
        let numeric = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return bytes.count == 4 ? numeric : "[\(numeric)]"
    }
}

extension NetworkAddress: CustomStringConvertible {
    public var description: String { "\(host):\(port)" }
}

public enum NetworkSocket {
    /// The connections that may wait to be accepted.
    private static let backlog: Int32 = 128

    /// Listens for TCP. The address need not be this machine's yet: the network may come up later.
    public static func listen(at address: NetworkAddress) throws(SystemError) -> FileDescriptor {
        let answer = attemptC {
            clinux_listen_network(address.bytes, address.bytes.count, address.port, backlog)
        }
        return FileDescriptor(owning: Int32(try answer.get("listen at", address.description)))
    }

    /// The other end of a connection; nil where it has none any more.
    public static func peer(of raw: Int32) -> NetworkAddress? {
        var (bytes, port) = (emptyAddress, UInt16(0))
        return address(clinux_peer_address(raw, &bytes, &port), bytes, port)
    }

    /// This end of a connection.
    public static func ownEnd(of raw: Int32) -> NetworkAddress? {
        var (bytes, port) = (emptyAddress, UInt16(0))
        return address(clinux_own_address(raw, &bytes, &port), bytes, port)
    }

    private static let emptyAddress = [UInt8](repeating: 0, count: Int(CLINUX_ADDRESS_BYTES))

    private static func address(_ count: Int32, _ bytes: [UInt8], _ port: UInt16) -> NetworkAddress? {
        count < 0 ? nil : NetworkAddress(bytes: Array(bytes.prefix(Int(count))), port: port)
    }

    /// Ends a connection in both directions; its owner notices, and closes it.
    public static func end(_ raw: Int32) { _ = shutdown(raw, Int32(SHUT_RDWR)) }
}
