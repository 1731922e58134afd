// Values that a device profile decoded, or that an alarm carries.
internal import WakeModel

/// A value that a device profile decoded, or that an alarm carries: ``decode(as:)``, or `value["bpm"]?.number`.
public struct DecodedValue: Hashable, Sendable, CustomStringConvertible {
    let json: JSONValue

    /// JSON text.
    package var jsonText: [UInt8] {
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }

    /// The value as JSON text, for a log.
    public var description: String { String(decoding: jsonText, as: UTF8.self) }

    /// The field of this name; nil where there is none, or the value has no fields.
    public subscript(name: String) -> DecodedValue? { json[name].map(DecodedValue.init) }
    /// Nil where the value is no number.
    public var number: Double? { json.number }
    /// Nil where the value is no whole number.
    public var integer: Int? { json.integer.map(Int.init) }
    /// Nil where the value is no text.
    public var text: String? { json.string }
    /// Nil where the value is neither true nor false.
    public var boolean: Bool? { json.boolean }
    /// Empty where the value is no list.
    public var list: [DecodedValue] { (json.array ?? []).map(DecodedValue.init) }

    /// The value as a type of yours. Its coding keys are the names of the profile's fields, such as `rr_s`.
    ///
    /// ```swift
    /// struct HeartRate: Decodable { let bpm: Int }
    /// let rate = try data.value?.decode(as: HeartRate.self)
    /// ```
    /// - Throws: a `DecodingError` that names the field which is missing or of another type.
    public func decode<Value: Decodable>(as type: Value.Type) throws(DecodingError) -> Value {
        try ValueDecoder.decode(type, from: json)
    }
}
