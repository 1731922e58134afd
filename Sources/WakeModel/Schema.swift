// The JSON that is allowed at one place, as OpenAPI 3.1 writes it.

package indirect enum Schema: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package var name: String
        package var schema: Schema
        package var isRequired: Bool
        /// The meaning of its value, for people; empty where its name is enough.
        package var summary: String

        /// A key that is always there.
        package static func always(_ name: String, _ schema: Schema, _ summary: String = "") -> Key {
            Key(name: name, schema: schema, isRequired: true, summary: summary)
        }

        /// A key that may be left out.
        package static func perhaps(_ name: String, _ schema: Schema, _ summary: String = "") -> Key {
            Key(name: name, schema: schema, isRequired: false, summary: summary)
        }
    }

    case text
    /// At least one character.
    case name
    /// RFC 3339, in UTC.
    case moment
    case hexadecimal
    case word([String])
    case whole(from: Int, through: Int?)
    case number
    case flag
    case list(Schema)
    /// Other keys may come with later versions.
    case object([Key])
    /// An object that refuses keys other than these.
    case exactly([Key])
    /// An object with names of its own, and one kind of value.
    case table(Schema)
    case nullable(Schema)
    case either([Schema])
    /// A schema that `components.schemas` of the API's description has by this name.
    case reference(String)
    case anything

    /// A whole number from 0.
    package static let natural = Schema.whole(from: 0, through: nil)

    /// Its `type`; nil where it has no single one, or where it is written elsewhere.
    fileprivate var type: String? {
        switch self {
        case .text, .name, .moment, .hexadecimal, .word: "string"
        case .whole: "integer"
        case .number: "number"
        case .flag: "boolean"
        case .list: "array"
        case .object, .exactly, .table: "object"
        case .nullable, .either, .reference, .anything: nil
        }
    }
}

extension JSONWriter {
    package mutating func schema(_ schema: Schema, _ summary: String = "") {
        object { writer in
            writer.members(of: schema)
            if !summary.isEmpty { writer.field("description", summary) }
        }
    }

    private mutating func members(of schema: Schema) {
        if let type = schema.type { field("type", type) }
        switch schema {
        case .text, .number, .flag, .anything: break
        case .name: field("minLength", 1)
        case .moment: field("format", "date-time")
        case .hexadecimal: field("pattern", "^([0-9a-f]{2})*$")
        case .word(let words): field("enum", words)
        case .whole(let least, let most):
            field("minimum", least)
            if let most { field("maximum", most) }
        case .list(let element):
            key("items")
            self.schema(element)
        case .object(let keys): object(of: keys, isClosed: false)
        case .exactly(let keys): object(of: keys, isClosed: true)
        case .table(let value):
            key("additionalProperties")
            self.schema(value)
        case .nullable(let other): alternatives([other], orNull: true)
        case .either(let others): alternatives(others, orNull: false)
        case .reference(let name): field("$ref", "#/components/schemas/\(name)")
        }
    }

    private mutating func object(of keys: [Schema.Key], isClosed: Bool) {
        object("properties") { writer in
            for key in keys {
                writer.key(named: key.name)
                writer.schema(key.schema, key.summary)
            }
        }
        let required = keys.filter(\.isRequired).map(\.name)
        if !required.isEmpty { field("required", required) }
        if isClosed { field("additionalProperties", false) }
    }

    private mutating func alternatives(_ schemas: [Schema], orNull: Bool) {
        key("anyOf")
        beginArray()
        for schema in schemas { self.schema(schema) }
        if orNull { object { $0.field("type", "null") } }
        endArray()
    }
}
