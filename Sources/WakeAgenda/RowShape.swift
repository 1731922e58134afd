// The stored form of a value as one list of its members, by which it is written and read again.
import WakeModel

/// A value of one member of a row.
package protocol RowValue: Sendable {
    /// Otherwise a member that cannot be read counts as missing.
    static var mustBeReadable: Bool { get }
    static func read(_ value: JSONValue, of handler: HandlerID) -> Self?
    func write(into writer: inout JSONWriter)
}

/// Members in a form of their own, beside others of one object.
package protocol RowPart: Sendable {
    /// Nil where they cannot be read.
    init?(_ row: JSONValue)
    func write(into writer: inout JSONWriter)
}

/// An object with a shape.
package protocol RowObject: RowValue {
    static var shape: RowShape<Self> { get }
    /// With values that a row replaces.
    init()
}

package struct RowShape<Owner>: Sendable {
    package struct Member: Sendable { fileprivate let form: any MemberForm<Owner> }

    private let members: [Member]

    package init(_ members: [Member]) { self.members = members }

    package func write(_ owner: Owner, into writer: inout JSONWriter) {
        for member in members { member.form.write(owner, into: &writer) }
    }

    /// False where the row cannot be read.
    package func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        for member in members where !member.form.read(row, of: handler, into: &owner) { return false }
        return true
    }
}

extension RowShape.Member {
    package typealias Place<Value> = WritableKeyPath<Owner, Value> & Sendable

    /// Every row has it.
    package static func required<Value: RowValue>(_ name: String, _ place: Place<Value>) -> Self {
        Self(form: RequiredForm(name: name, place: place))
    }
    /// A row without it leaves the value as it is.
    package static func optional<Value: RowValue>(_ name: String, _ place: Place<Value?>) -> Self {
        Self(form: OptionalForm(name: name, place: place))
    }
    /// A row has it where it is another value.
    package static func unless<Value: RowValue & Equatable>(
        _ usual: Value, _ name: String, _ place: Place<Value>
    ) -> Self {
        Self(form: UnusualForm(usual: usual, name: name, place: place))
    }
    package static func flag(_ name: String, _ place: Place<Bool>) -> Self { unless(false, name, place) }
    package static func count(_ name: String, _ place: Place<Int64>) -> Self { unless(0, name, place) }
    static func conditions(_ name: String, _ place: Place<[Condition]>) -> Self { unless([], name, place) }

    static func part<Part: RowPart>(_ place: Place<Part>) -> Self { Self(form: PartForm(place: place)) }
    /// A row may lack it.
    static func part<Part: RowPart>(_ place: Place<Part?>) -> Self { Self(form: OptionalPartForm(place: place)) }
}

/// How a member is written, and read again.
private protocol MemberForm<Owner>: Sendable {
    associatedtype Owner
    func write(_ owner: Owner, into writer: inout JSONWriter)
    /// False where the row cannot be read.
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool
}

private struct RequiredForm<Owner, Value: RowValue>: MemberForm {
    let name: String
    let place: WritableKeyPath<Owner, Value> & Sendable

    func write(_ owner: Owner, into writer: inout JSONWriter) { writer.member(name, owner[keyPath: place]) }
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        guard let value = row[name].flatMap({ Value.read($0, of: handler) }) else { return false }
        owner[keyPath: place] = value
        return true
    }
}

private struct OptionalForm<Owner, Value: RowValue>: MemberForm {
    let name: String
    let place: WritableKeyPath<Owner, Value?> & Sendable

    func write(_ owner: Owner, into writer: inout JSONWriter) {
        if let value = owner[keyPath: place] { writer.member(name, value) }
    }
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        guard let member = row[name] else { return true }
        guard let value = Value.read(member, of: handler) else { return !Value.mustBeReadable }
        owner[keyPath: place] = value
        return true
    }
}

private struct UnusualForm<Owner, Value: RowValue & Equatable>: MemberForm {
    let usual: Value
    let name: String
    let place: WritableKeyPath<Owner, Value> & Sendable

    func write(_ owner: Owner, into writer: inout JSONWriter) {
        if owner[keyPath: place] != usual { writer.member(name, owner[keyPath: place]) }
    }
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        guard let member = row[name] else { return true }
        guard let value = Value.read(member, of: handler) else { return !Value.mustBeReadable }
        owner[keyPath: place] = value
        return true
    }
}

private struct PartForm<Owner, Part: RowPart>: MemberForm {
    let place: WritableKeyPath<Owner, Part> & Sendable

    func write(_ owner: Owner, into writer: inout JSONWriter) { owner[keyPath: place].write(into: &writer) }
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        guard let part = Part(row) else { return false }
        owner[keyPath: place] = part
        return true
    }
}

private struct OptionalPartForm<Owner, Part: RowPart>: MemberForm {
    let place: WritableKeyPath<Owner, Part?> & Sendable

    func write(_ owner: Owner, into writer: inout JSONWriter) { owner[keyPath: place]?.write(into: &writer) }
    func read(_ row: JSONValue, of handler: HandlerID, into owner: inout Owner) -> Bool {
        owner[keyPath: place] = Part(row)
        return true
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ value: some RowValue) {
        key(named: name)
        value.write(into: &self)
    }
}

extension RowValue {
    package static var mustBeReadable: Bool { false }
}

extension RowObject {
    package static var mustBeReadable: Bool { true }
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Self? {
        var found = Self()
        return shape.read(value, of: handler, into: &found) ? found : nil
    }
    package func write(into writer: inout JSONWriter) { writer.object { Self.shape.write(self, into: &$0) } }
}

extension RawRepresentable where Self: RowValue, RawValue == String {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Self? { value.string.flatMap(Self.init) }
    package func write(into writer: inout JSONWriter) { writer.string(rawValue) }
}

extension Bool: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Bool? { value.boolean }
    package func write(into writer: inout JSONWriter) { writer.boolean(self) }
}

extension String: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> String? { value.string }
    package func write(into writer: inout JSONWriter) { writer.string(self) }
}

/// A count.
extension Int64: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Int64? {
        value.bounded.flatMap { $0 < 0 ? nil : $0 }
    }
    package func write(into writer: inout JSONWriter) { writer.integer(self) }
}

extension Instant: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Instant? {
        value.bounded.map { Instant(nanoseconds: $0) }
    }
    package func write(into writer: inout JSONWriter) { writer.integer(nanoseconds) }
}

extension TimeSpan: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> TimeSpan? {
        value.bounded.map { TimeSpan(nanoseconds: $0) }
    }
    package func write(into writer: inout JSONWriter) { writer.integer(nanoseconds) }
}

extension WallTime: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> WallTime? {
        value.bounded.map { WallTime(microseconds: $0) }
    }
    package func write(into writer: inout JSONWriter) { writer.integer(microseconds) }
}

extension Sequence: RowValue {
    package static func read(_ value: JSONValue, of handler: HandlerID) -> Sequence? {
        Int64.read(value, of: handler).map { Sequence(UInt64($0)) }
    }
    package func write(into writer: inout JSONWriter) { writer.integer(rawValue) }
}

/// Conditions, by their words.
extension [Condition]: RowValue {
    package static var mustBeReadable: Bool { true }
    package static func read(_ value: JSONValue, of handler: HandlerID) -> [Condition]? {
        (try? Condition.list(value, for: "a row"))?.map { $0.asked(by: handler) }
    }
    package func write(into writer: inout JSONWriter) {
        writer.beginArray()
        for condition in self { writer.string(condition.word) }
        writer.endArray()
    }
}
