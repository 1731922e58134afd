// SHA-256 of bytes, by the library that opens encrypted broadcasts too; its comparison takes the same time wherever
// they differ.
import CCrypto
import WakeModel

public struct Digest: Sendable {
    public let bytes: [UInt8]

    public static let length = Int(WAKE_SHA256_BYTES)

    /// Why nothing can be digested here; nil where it can.
    public static var fault: String? { wake_cipher_fault().map { String(cString: $0) } }

    /// Nil where libcrypto cannot be loaded.
    public init?(of bytes: [UInt8]) {
        var digest = [UInt8](repeating: 0, count: Self.length)
        guard wake_sha256(bytes + [0], bytes.count, &digest) else { return nil }
        self.bytes = digest
    }

    /// A digest that was kept; nil where it is of another length.
    public init?(kept bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// Takes the same time for any two digests.
    public func matches(_ other: Digest) -> Bool { wake_are_equal(bytes, other.bytes, Self.length) }
}
