// FNV-1a of 64 bits: distinguishes contents and finds torn ones, and is no proof against forgery.

public struct FNV1a: Hashable, Sendable {
    public private(set) var value: UInt64

    public init(seed: UInt64 = 0) { value = seed ^ 0xcbf2_9ce4_8422_2325 }

    /// A byte, or a word in place of eight of them.
    public mutating func add(_ unit: UInt64) { value = (value ^ unit) &* 0x100_0000_01b3 }

    public mutating func add(_ bytes: some Swift.Sequence<UInt8>) { for byte in bytes { add(UInt64(byte)) } }
}
