// Decodes a JSON value into a Decodable type, without Foundation.
internal import WakeModel

/// The value that is decoded, and the keys that led to it.
struct ValueDecoder: Decoder {
    let json: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue) throws(DecodingError) -> Value {
        do {
            return try ValueDecoder(json: json, codingPath: []).read(type)
        } catch let error as DecodingError {
            throw error
        } catch {
            // An author's own `init(from:)` threw another error.
            let sentence = "A value could not be decoded as \(type): \(error)."
            throw .dataCorrupted(.init(codingPath: [], debugDescription: sentence, underlyingError: error))
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, fromText text: String) throws(DecodingError) -> Value {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
            throw .dataCorrupted(.init(codingPath: [], debugDescription: "The text is no JSON value."))
        }
        return try decode(type, from: json)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = json else { throw mismatch([String: Any].self) }
        let fields = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        return KeyedDecodingContainer(KeyedValues(decoder: self, fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let values = json.array else { throw mismatch([Any].self) }
        return ListedValues(decoder: self, values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let scalar = type as? any JSONScalar.Type else { return try type.init(from: self) }
        guard let value = scalar.init(json) as? Value else { throw mismatch(type) }
        return value
    }

    func below(_ key: any CodingKey, _ value: JSONValue) -> ValueDecoder {
        ValueDecoder(json: value, codingPath: codingPath + [key])
    }

    private func mismatch(_ type: any Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "The value is no \(type)."))
    }
}

/// The fields of an object.
private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ValueDecoder
    let fields: [String: JSONValue]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try field(key).json == .null }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try field(key).read(type) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    private func field(_ key: Key) throws -> ValueDecoder {
        guard let value = fields[key.stringValue] else {
            let sentence = "The value has no field \"\(key.stringValue)\"."
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: sentence))
        }
        return decoder.below(key, value)
    }
}

/// The place of an element in a list.
struct ListPlace: CodingKey {
    let intValue: Int?
    var stringValue: String { intValue.map { "\($0)" } ?? "" }
    init(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { return nil }
}

/// The elements of a list, one after the other.
private struct ListedValues: UnkeyedDecodingContainer {
    let decoder: ValueDecoder
    let values: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    init(decoder: ValueDecoder, values: [JSONValue]) { (self.decoder, self.values) = (decoder, values) }

    mutating func decodeNil() throws -> Bool {
        guard try peek().json == .null else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try peek().read(type)
        currentIndex += 1
        return value
    }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try advance().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try advance().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try advance() }

    private func peek() throws -> ValueDecoder {
        let place = ListPlace(intValue: currentIndex)
        guard !isAtEnd else {
            let sentence = "The list ends after \(values.count) elements."
            let context = DecodingError.Context(codingPath: codingPath + [place], debugDescription: sentence)
            throw DecodingError.valueNotFound(JSONScalar.self, context)
        }
        return decoder.below(place, values[currentIndex])
    }

    private mutating func advance() throws -> ValueDecoder {
        let element = try peek()
        currentIndex += 1
        return element
    }
}

/// A value that is neither looked up by key nor by place.
private struct SingleValue: SingleValueDecodingContainer {
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.json == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.read(type) }
}

/// A type that is one JSON value. Its own `init(from:)` would ask the container for itself, without end.
private protocol JSONScalar {
    init?(_ json: JSONValue)
}

extension JSONScalar where Self: FixedWidthInteger {
    fileprivate init?(_ json: JSONValue) {
        guard let integer = json.integer else { return nil }
        self.init(exactly: integer)
    }
}

extension JSONScalar where Self: BinaryFloatingPoint {
    fileprivate init?(_ json: JSONValue) {
        guard let number = json.number else { return nil }
        self.init(number)
    }
}

extension Bool: JSONScalar {
    fileprivate init?(_ json: JSONValue) {
        guard let flag = json.boolean else { return nil }
        self = flag
    }
}

extension String: JSONScalar {
    fileprivate init?(_ json: JSONValue) {
        guard let text = json.string else { return nil }
        self = text
    }
}

extension Double: JSONScalar {}
extension Float: JSONScalar {}
extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
