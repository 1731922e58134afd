// Where the bytes of a recording come from, in pieces.

/// Gives the bytes in order, in pieces of any size, then nil.
public protocol ByteSupply: AnyObject {
    func next() throws(ImportError) -> [UInt8]?
}

/// Bytes that are in memory already.
public final class HeldBytes: ByteSupply {
    private var bytes: [UInt8]?

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public func next() -> [UInt8]? {
        defer { bytes = nil }
        return bytes
    }
}
