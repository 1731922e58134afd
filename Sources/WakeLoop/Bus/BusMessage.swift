// Writes values into an sd-bus message and reads them from it. Values are copied before the message is released.
import CSystemd
import Glibc
import WakeSystem

enum BusMessage {
    /// The remaining values, in order.
    static func values(of message: OpaquePointer) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try next(in: message) { values.append(value) }
        return values
    }

    /// The next value of the message or of the entered container; nil at its end.
    private static func next(in message: OpaquePointer) throws(BusError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try passed(sd_bus_message_peek_type(message, &type, &contents), "read a message") > 0 else { return nil }
        let inner = contents.map { String(cString: $0) } ?? ""
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "a"): return try array(of: inner, in: message)
        case UInt8(ascii: "r"): return .structure(try members(type, inner, message))
        case UInt8(ascii: "v"):
            guard let value = try members(type, inner, message).first else { throw .malformed("an empty variant") }
            return .variant(value)
        default: return try basic(type, in: message)
        }
    }

    private static func array(of element: String, in message: OpaquePointer) throws(BusError) -> BusValue {
        if element == "y" { return .bytes(try bytes(in: message)) }
        let type = CChar(bitPattern: UInt8(ascii: "a"))
        guard element.hasPrefix("{") else { return .array(of: element, try members(type, element, message)) }
        // A key is one basic type, so the rest up to the brace is the value's type.
        let types = String(element.dropFirst().dropLast())
        let entries = try entries(of: types, in: message)
        return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
    }

    private static func entries(of types: String, in message: OpaquePointer) throws(BusError) -> [BusEntry] {
        let array = CChar(bitPattern: UInt8(ascii: "a"))
        try passed(sd_bus_message_enter_container(message, array, "{\(types)}"), "read a dictionary")
        var entries: [BusEntry] = []
        let entry = CChar(bitPattern: UInt8(ascii: "e"))
        while try passed(sd_bus_message_enter_container(message, entry, types), "read an entry") > 0 {
            guard let key = try next(in: message), let value = try next(in: message) else {
                throw .malformed("half an entry")
            }
            try passed(sd_bus_message_exit_container(message), "read an entry")
            entries.append(BusEntry(key, value))
        }
        try passed(sd_bus_message_exit_container(message), "read a dictionary")
        return entries
    }

    private static func members(
        _ type: CChar, _ contents: String, _ message: OpaquePointer
    ) throws(BusError) -> [BusValue] {
        try passed(sd_bus_message_enter_container(message, type, contents), "read a container")
        let members = try values(of: message)
        try passed(sd_bus_message_exit_container(message), "read a container")
        return members
    }

    private static func bytes(in message: OpaquePointer) throws(BusError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var count = 0
        let code = sd_bus_message_read_array(message, CChar(bitPattern: UInt8(ascii: "y")), &start, &count)
        try passed(code, "read bytes")
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func basic(_ type: CChar, in message: OpaquePointer) throws(BusError) -> BusValue {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "b"): .boolean(try scalar(type, message, Int32.self) != 0)
        case UInt8(ascii: "y"): .byte(try scalar(type, message, UInt8.self))
        case UInt8(ascii: "n"): .int16(try scalar(type, message, Int16.self))
        case UInt8(ascii: "q"): .uint16(try scalar(type, message, UInt16.self))
        case UInt8(ascii: "i"): .int32(try scalar(type, message, Int32.self))
        case UInt8(ascii: "u"): .uint32(try scalar(type, message, UInt32.self))
        case UInt8(ascii: "x"): .int64(try scalar(type, message, Int64.self))
        case UInt8(ascii: "t"): .uint64(try scalar(type, message, UInt64.self))
        case UInt8(ascii: "d"): .double(try scalar(type, message, Double.self))
        case UInt8(ascii: "s"): .string(try text(type, message))
        case UInt8(ascii: "o"): .objectPath(try text(type, message))
        case UInt8(ascii: "g"): .signature(try text(type, message))
        case UInt8(ascii: "h"): .descriptor(try descriptor(type, message))
        default: throw .malformed("a value of the unknown type \(type)")
        }
    }

    private static func scalar<Number: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _ type: CChar, _ message: OpaquePointer, _: Number.Type
    ) throws(BusError) -> Number {
        var value: Number = 0
        try passed(sd_bus_message_read_basic(message, type, &value), "read a value")
        return value
    }

    private static func text(_ type: CChar, _ message: OpaquePointer) throws(BusError) -> String {
        var start: UnsafePointer<CChar>?
        try passed(sd_bus_message_read_basic(message, type, &start), "read a text")
        return start.map { String(cString: $0) } ?? ""
    }

    /// The message keeps its own copy, so this one is a duplicate.
    private static func descriptor(_ type: CChar, _ message: OpaquePointer) throws(BusError) -> BusDescriptor {
        var raw: Int32 = -1
        try passed(sd_bus_message_read_basic(message, type, &raw), "read a descriptor")
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .local("duplicate a descriptor from the bus", -errno) }
        return BusDescriptor(owning: copy)
    }
}

extension BusMessage {
    static func append(_ values: [BusValue], to message: OpaquePointer) throws(BusError) {
        for value in values { try append(value, to: message) }
    }

    private static func append(_ value: BusValue, to message: OpaquePointer) throws(BusError) {
        switch value {
        case .boolean(let flag): try append(Int32(flag ? 1 : 0), value, message)
        case .byte(let number): try append(number, value, message)
        case .int16(let number): try append(number, value, message)
        case .uint16(let number): try append(number, value, message)
        case .int32(let number): try append(number, value, message)
        case .uint32(let number): try append(number, value, message)
        case .int64(let number): try append(number, value, message)
        case .uint64(let number): try append(number, value, message)
        case .double(let number): try append(number, value, message)
        case .string(let text), .objectPath(let text), .signature(let text):
            try passed(sd_bus_message_append_basic(message, value.type, text), "write a text into a message")
        case .bytes(let bytes):
            let code = bytes.withUnsafeBytes {
                sd_bus_message_append_array(message, UInt8(ascii: "y").character, $0.baseAddress, $0.count)
            }
            try passed(code, "write bytes into a message")
        case .array(let element, let elements): try append(elements, inside: "a", element, message)
        case .structure(let members):
            try append(members, inside: "r", members.map(\.signature).joined(), message)
        case .variant(let inner): try append([inner], inside: "v", inner.signature, message)
        case .dictionary(let key, let type, let entries):
            try open("a", "{\(key)\(type)}", message)
            for entry in entries { try append([entry.key, entry.value], inside: "e", key + type, message) }
            try passed(sd_bus_message_close_container(message), "write a dictionary into a message")
        case .descriptor(let descriptor): try append(descriptor.raw, value, message)
        }
    }

    private static func append<Number: BitwiseCopyable>(
        _ number: Number, _ value: BusValue, _ message: OpaquePointer
    ) throws(BusError) {
        var copy = number
        try passed(sd_bus_message_append_basic(message, value.type, &copy), "write a value into a message")
    }

    private static func append(
        _ values: [BusValue], inside type: Unicode.Scalar, _ contents: String, _ message: OpaquePointer
    ) throws(BusError) {
        try open(type, contents, message)
        try append(values, to: message)
        try passed(sd_bus_message_close_container(message), "write a container into a message")
    }

    private static func open(
        _ type: Unicode.Scalar, _ contents: String, _ message: OpaquePointer
    ) throws(BusError) {
        let code = sd_bus_message_open_container(message, UInt8(ascii: type).character, contents)
        try passed(code, "write a container into a message")
    }
}

extension UInt8 {
    fileprivate var character: CChar { CChar(bitPattern: self) }
}

extension BusValue {
    /// The one letter of a basic type.
    fileprivate var type: CChar { (signature.utf8.first ?? 0).character }
}

/// The result of sd-bus, or its -errno as an error.
@discardableResult
func passed(_ code: Int32, _ attempted: String) throws(BusError) -> Int32 {
    guard code < 0 else { return code }
    throw .local(attempted, code)
}

/// A D-Bus value, copied out of a message or to be copied into one (D-Bus Specification, "Type System").
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

/// A descriptor that came with a message, or goes with one; closed when the last value that holds it is released.
public final class BusDescriptor: Hashable, Sendable {
    private let owned: FileDescriptor

    package init(owning raw: Int32) { owned = FileDescriptor(owning: raw) }

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
