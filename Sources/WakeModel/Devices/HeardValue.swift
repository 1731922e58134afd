// The value of a message where its own bytes do not determine it: rates, and formats with a memory or a key.

/// The journal keeps it with the event, because what came before the message is gone when it is delivered.
public struct HeardValue: Hashable, Sendable {
    /// The kind of result.
    public enum Form: UInt8, Hashable, Sendable, CaseIterable {
        /// Members that the value has besides those of its bytes: `"rpm":60`.
        case members = 1
        /// The whole value, a JSON object.
        case value = 2
        /// Why there is no value: a sentence.
        case fault = 3
        /// The message is fine and has no value, as a part of a longer one.
        case nothing = 4
    }

    /// The form's number, then its text; empty where nothing was made.
    public let bytes: [UInt8]

    /// The bytes of the message determine its value.
    public static let none = HeardValue()

    private init() { bytes = [] }

    public init(_ form: Form, _ text: some Collection<UInt8> = [UInt8]()) { bytes = [form.rawValue] + text }

    /// Reads ``bytes``; nil for what none can be.
    public init?(bytes: [UInt8]) {
        if let first = bytes.first, Form(rawValue: first) == nil { return nil }
        self.bytes = bytes
    }

    public var isNone: Bool { bytes.isEmpty }
    public var form: Form? { bytes.first.flatMap { Form(rawValue: $0) } }
    public var text: ArraySlice<UInt8> { bytes.dropFirst() }
}
