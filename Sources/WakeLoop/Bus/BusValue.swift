// A D-Bus value, copied out of a message or to be copied into one (D-Bus Specification, "Type System").
import WakeSystem

public indirect enum BusValue: Hashable, Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// `ay`, the array of bytes that devices send.
    case bytes([UInt8])
    /// Every other array; an empty one still has its element type.
    case array(of: String, [BusValue])
    case dictionary(key: String, value: String, [BusEntry])
    case structure([BusValue])
    case variant(BusValue)
    case descriptor(BusDescriptor)

    /// The type in the specification's form: `a{sv}`.
    public var signature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a\(element)"
        case .dictionary(let key, let value, _): "a{\(key)\(value)}"
        case .structure(let members): "(\(members.map(\.signature).joined()))"
        case .variant: "v"
        case .descriptor: "h"
        }
    }
}

public struct BusEntry: Hashable, Sendable {
    public var key: BusValue
    public var value: BusValue

    public init(_ key: BusValue, _ value: BusValue) {
        self.key = key
        self.value = value
    }
}

/// A descriptor that came with a message; closed when the last value that holds it is released.
public final class BusDescriptor: Hashable, Sendable {
    private let owned: FileDescriptor

    init(owning raw: Int32) { owned = FileDescriptor(owning: raw) }

    /// Valid while this object exists.
    public var raw: Int32 { owned.raw }

    public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// Typed access: the value if it has that type, through any number of variants.
extension BusValue {
    public var boolean: Bool? { if case .boolean(let value) = bare { value } else { nil } }
    public var string: String? {
        switch bare {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }
    public var bytes: [UInt8]? { if case .bytes(let value) = bare { value } else { nil } }
    public var descriptor: BusDescriptor? { if case .descriptor(let value) = bare { value } else { nil } }

    public var integer: Int64? {
        switch bare {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        default: nil
        }
    }

    public var array: [BusValue]? {
        switch bare {
        case .array(_, let elements), .structure(let elements): elements
        case .bytes(let bytes): bytes.map(BusValue.byte)
        default: nil
        }
    }

    public var entries: [BusEntry]? { if case .dictionary(_, _, let entries) = bare { entries } else { nil } }

    /// The value of the entry with this key.
    public subscript(key: String) -> BusValue? { entries?.first { $0.key.string == key }?.value.bare }

    /// The value without its variants.
    public var bare: BusValue {
        guard case .variant(let inner) = self else { return self }
        return inner.bare
    }

    /// A dictionary of texts to variants, the form of properties.
    public static func properties(_ pairs: [(String, BusValue)]) -> BusValue {
        .dictionary(
            key: "s", value: "v", pairs.map { BusEntry(.string($0.0), .variant($0.1)) })
    }
}
