// Encodes an Encodable value into a JSON value, without Foundation.
internal import WakeModel

/// Keeps one value while it is composed. Values below it are kept in encoders of their own, so that each may come later.
final class ValueEncoder: Encoder {
    private enum Content {
        case nothing
        case value(JSONValue)
        case fields([(name: String, value: ValueEncoder)])
        case list([ValueEncoder])
    }

    let codingPath: [any CodingKey]
    private var content = Content.nothing
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(codingPath: [any CodingKey] = []) { self.codingPath = codingPath }

    /// The value as JSON text.
    static func text(of value: some Encodable) throws(EncodingError) -> String {
        do {
            let encoder = ValueEncoder()
            try encoder.write(value)
            var writer = JSONWriter()
            writer.value(encoder.json)
            return String(decoding: writer.bytes, as: UTF8.self)
        } catch let error as EncodingError {
            throw error
        } catch {
            // An author's own `encode(to:)` threw another error.
            let sentence = "The value could not be encoded: \(error)."
            throw .invalidValue(value, .init(codingPath: [], debugDescription: sentence, underlyingError: error))
        }
    }

    private var json: JSONValue {
        switch content {
        case .nothing: .object([])
        case .value(let value): value
        case .fields(let fields): .object(fields.map { JSONValue.Member(name: $0.name, value: $0.value.json) })
        case .list(let elements): .array(elements.map(\.json))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .nothing = content { content = .fields([]) }
        return KeyedEncodingContainer(KeyedFields(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .nothing = content { content = .list([]) }
        return ListedElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { OneValue(encoder: self) }

    fileprivate func write(_ value: some Encodable) throws {
        guard let scalar = value as? any EncodableScalar else { return try value.encode(to: self) }
        guard let json = scalar.json else {
            let sentence = "JSON has no word for \(value)."
            throw EncodingError.invalidValue(value, .init(codingPath: codingPath, debugDescription: sentence))
        }
        content = .value(json)
    }

    fileprivate func writeNull() { content = .value(.null) }

    /// A later value of a name takes the place of an earlier one.
    fileprivate func field(_ key: any CodingKey) -> ValueEncoder {
        let field = ValueEncoder(codingPath: codingPath + [key])
        guard case .fields(let fields) = content else { return field }
        content = .fields(fields.filter { $0.name != key.stringValue } + [(key.stringValue, field)])
        return field
    }

    fileprivate var count: Int { if case .list(let elements) = content { elements.count } else { 0 } }

    fileprivate func element() -> ValueEncoder {
        guard case .list(let elements) = content else { return ValueEncoder(codingPath: codingPath) }
        let element = ValueEncoder(codingPath: codingPath + [ListPlace(intValue: elements.count)])
        content = .list(elements + [element])
        return element
    }
}

/// The fields of an object.
private struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.field(key).writeNull() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder.field(key).write(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder.field(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.field(key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.field(key) }
}

/// The elements of a list, one after the other.
private struct ListedElements: UnkeyedEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    func encodeNil() { encoder.element().writeNull() }
    func encode(_ value: some Encodable) throws { try encoder.element().write(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.element().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.element() }
}

/// A value that has neither a key nor a place.
private struct OneValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.writeNull() }
    func encode(_ value: some Encodable) throws { try encoder.write(value) }
}

/// A type that is one JSON value. Its own `encode(to:)` would ask the container for itself, without end.
private protocol EncodableScalar {
    /// Nil where JSON has no word for it.
    var json: JSONValue? { get }
}

extension EncodableScalar where Self: FixedWidthInteger {
    fileprivate var json: JSONValue? { Int64(exactly: self).map { .integer($0) } }
}

extension EncodableScalar where Self: BinaryFloatingPoint {
    fileprivate var json: JSONValue? { isFinite ? .number(Double(self)) : nil }
}

extension Bool: EncodableScalar { fileprivate var json: JSONValue? { .boolean(self) } }
extension String: EncodableScalar { fileprivate var json: JSONValue? { .string(self) } }
extension Double: EncodableScalar {}
extension Float: EncodableScalar {}
extension Int: EncodableScalar {}
extension Int8: EncodableScalar {}
extension Int16: EncodableScalar {}
extension Int32: EncodableScalar {}
extension Int64: EncodableScalar {}
extension UInt: EncodableScalar {}
extension UInt8: EncodableScalar {}
extension UInt16: EncodableScalar {}
extension UInt32: EncodableScalar {}
extension UInt64: EncodableScalar {}
