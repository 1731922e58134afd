// The form of a value in JSON: one list of an object's members writes the object, and is its schema.

/// Has one form in JSON.
package protocol Shaped {
    static var schema: Schema { get }
    func write(into writer: inout JSONWriter)
}

/// An object of ``Shape``.
package protocol Described: Shaped {
    static var shape: Shape<Self> { get }
    /// The name of its schema in `components.schemas`; nil where it is described in place.
    static var reference: String? { get }
}

extension Described {
    package static var reference: String? { nil }
    package static var schema: Schema { reference.map { .reference($0) } ?? shape.schema }
    package func write(into writer: inout JSONWriter) { Self.shape.write(self, into: &writer) }
}

/// The members of an object, in the order in which they are written.
package struct Shape<Subject>: Sendable {
    private let members: [Member]

    package init(_ members: [Member]) { self.members = members }

    package var schema: Schema { .object(members.flatMap(\.part.keys)) }

    package func write(_ subject: Subject, into writer: inout JSONWriter) {
        writer.object { writer in
            for member in members { member.part.write(subject, into: &writer) }
        }
    }

    package struct Member: Sendable {
        fileprivate let part: any ShapePart<Subject>

        /// A member that is always there, and null where its value is nil.
        /// - Parameters:
        ///   - schema: nil for that of its type.
        ///   - summary: what readers of the API's description get.
        package static func always<Value: Shaped>(
            _ name: StaticString, _ path: KeyPath<Subject, Value> & Sendable, _ schema: Schema? = nil,
            _ summary: String = ""
        ) -> Member {
            Member(part: Always(name: name, path: path, schema: schema, summary: summary))
        }

        package static func always<Value: Shaped>(
            _ name: StaticString, _ path: KeyPath<Subject, Value> & Sendable, _ summary: String
        ) -> Member {
            always(name, path, nil, summary)
        }

        /// A member that is left out where its value is nil.
        package static func perhaps<Value: Shaped>(
            _ name: StaticString, _ path: KeyPath<Subject, Value?> & Sendable, _ summary: String = ""
        ) -> Member {
            Member(part: Perhaps(name: name, path: path, summary: summary))
        }

        /// An object of the same subject.
        package static func object(_ name: StaticString, _ members: [Member]) -> Member {
            Member(part: Nested(name: name, shape: Shape(members)))
        }

        /// The members of a part of the subject, as if they were its own.
        package static func members<Inner>(
            of path: KeyPath<Subject, Inner> & Sendable, _ members: [Shape<Inner>.Member]
        ) -> Member {
            Member(part: Lifted(path: path, members: members))
        }
    }
}

private protocol ShapePart<Subject>: Sendable {
    associatedtype Subject
    var keys: [Schema.Key] { get }
    func write(_ subject: Subject, into writer: inout JSONWriter)
}

private struct Always<Subject, Value: Shaped>: ShapePart {
    let name: StaticString
    let path: KeyPath<Subject, Value> & Sendable
    let schema: Schema?
    let summary: String

    var keys: [Schema.Key] { [.always("\(name)", schema ?? Value.schema, summary)] }

    func write(_ subject: Subject, into writer: inout JSONWriter) {
        writer.key(name)
        subject[keyPath: path].write(into: &writer)
    }
}

private struct Perhaps<Subject, Value: Shaped>: ShapePart {
    let name: StaticString
    let path: KeyPath<Subject, Value?> & Sendable
    let summary: String

    var keys: [Schema.Key] { [.perhaps("\(name)", Value.schema, summary)] }

    func write(_ subject: Subject, into writer: inout JSONWriter) {
        guard let value = subject[keyPath: path] else { return }
        writer.key(name)
        value.write(into: &writer)
    }
}

private struct Nested<Subject>: ShapePart {
    let name: StaticString
    let shape: Shape<Subject>

    var keys: [Schema.Key] { [.always("\(name)", shape.schema)] }

    func write(_ subject: Subject, into writer: inout JSONWriter) {
        writer.key(name)
        shape.write(subject, into: &writer)
    }
}

private struct Lifted<Subject, Inner>: ShapePart {
    let path: KeyPath<Subject, Inner> & Sendable
    let members: [Shape<Inner>.Member]

    var keys: [Schema.Key] { members.flatMap(\.part.keys) }

    func write(_ subject: Subject, into writer: inout JSONWriter) {
        for member in members { member.part.write(subject[keyPath: path], into: &writer) }
    }
}

// MARK: Values

extension String: Shaped {
    package static var schema: Schema { .text }
    package func write(into writer: inout JSONWriter) { writer.string(self) }
}

extension Bool: Shaped {
    package static var schema: Schema { .flag }
    package func write(into writer: inout JSONWriter) { writer.boolean(self) }
}

extension Double: Shaped {
    package static var schema: Schema { .number }
    package func write(into writer: inout JSONWriter) { writer.number(self) }
}

/// Counts: a number below zero needs a schema of its own.
extension Shaped where Self: BinaryInteger {
    package static var schema: Schema { .natural }
    package func write(into writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: Shaped {}
extension Int32: Shaped {}
extension Int64: Shaped {}
extension UInt32: Shaped {}
extension UInt64: Shaped {}

extension WallTime: Shaped {
    package static var schema: Schema { .moment }
    package func write(into writer: inout JSONWriter) { writer.time(self) }
}

/// A word of a closed list.
extension Shaped where Self: RawRepresentable, Self: CaseIterable, RawValue == String {
    package static var schema: Schema { .word(allCases.map(\.rawValue)) }
    package func write(into writer: inout JSONWriter) { writer.string(rawValue) }
}

extension LinkSession: Shaped {}

extension Optional: Shaped where Wrapped: Shaped {
    package static var schema: Schema { .nullable(Wrapped.schema) }
    package func write(into writer: inout JSONWriter) {
        if let value = self { value.write(into: &writer) } else { writer.null() }
    }
}

extension Array: Shaped where Element: Shaped {
    package static var schema: Schema { .list(Element.schema) }
    package func write(into writer: inout JSONWriter) {
        writer.beginArray()
        for element in self { element.write(into: &writer) }
        writer.endArray()
    }
}

extension JSONWriter {
    package mutating func field(_ name: StaticString, shaped value: some Shaped) {
        key(name)
        value.write(into: &self)
    }
}
