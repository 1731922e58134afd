// Values that a program writes down itself, for the data of alarms: `["dose": 2, "with": "water"]`.
internal import WakeModel

extension DecodedValue {
    /// A whole number.
    public init(_ number: Int) { json = .integer(Int64(number)) }
    /// A number; one that is not finite becomes null.
    public init(_ number: Double) { json = number.isFinite ? .number(number) : .null }
    /// A text.
    public init(_ text: String) { json = .string(text) }
    /// True or false.
    public init(_ flag: Bool) { json = .boolean(flag) }
    /// A list.
    public init(_ list: [DecodedValue]) { json = .array(list.map(\.json)) }
    /// Fields, in the order of their names.
    public init(_ fields: [String: DecodedValue]) {
        json = .object(fields.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value.json) })
    }
}

extension DecodedValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(integerLiteral value: Int) { self.init(value) }
    public init(floatLiteral value: Double) { self.init(value) }
    public init(stringLiteral value: String) { self.init(value) }
    public init(booleanLiteral value: Bool) { self.init(value) }
    public init(arrayLiteral elements: DecodedValue...) { self.init(elements) }
    /// The last value of a repeated name counts.
    public init(dictionaryLiteral elements: (String, DecodedValue)...) {
        self.init(Dictionary(elements) { $1 })
    }
}
