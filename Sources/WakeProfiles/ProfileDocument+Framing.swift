// The key `framing` of a profile: how the bytes of a serial accessory become messages.
import WakeModel

extension ProfileDocument {
    static let framingKeys = [
        "kind", "limit", "delimiter", "start", "offset", "size", "endian", "extra", "length", "gap",
    ]

    enum FramingKind: String, CaseIterable {
        case none, line, delimiter
        case lengthPrefix = "length-prefix"
        case fixed, idle, slip, cobs

        /// The keys that may stand beside it.
        var keys: [String] {
            switch self {
            case .none, .line, .slip, .cobs: ["limit"]
            case .delimiter: ["delimiter", "limit"]
            case .lengthPrefix: ["start", "offset", "size", "endian", "extra", "limit"]
            case .fixed: ["length"]
            case .idle: ["gap", "limit"]
            }
        }

        /// The keys that must stand beside it.
        var required: String? {
            switch self {
            case .none, .line, .slip, .cobs: nil
            case .delimiter: "delimiter"
            case .lengthPrefix: "size"
            case .fixed: "length"
            case .idle: "gap"
            }
        }
    }

    /// The longest message that an event can hold.
    private static let longestMessage = 16_384
    private static let defaultLimit = 4_096

    /// Nil where the key is absent; nil and reported where it cannot be read.
    static func framing(of object: ConfigurationObject) -> (framing: Framing, limit: Int)? {
        guard let found = object.object("framing", keys: framingKeys, required: ["kind"]),
            let kind = found.word("kind", as: FramingKind.self)
        else { return nil }
        refuseKeys(that: kind, doesNotKnow: found)
        let limit = found.integer("limit", in: 1...longestMessage) ?? defaultLimit
        guard let framing = framing(kind, of: found, limit: limit) else { return nil }
        // All messages have this length, so the longest has it too.
        if case .fixed(let length) = framing { return (framing, length) }
        return (framing, limit)
    }

    private static func refuseKeys(that kind: FramingKind, doesNotKnow object: ConfigurationObject) {
        let others = framingKeys.filter { $0 != "kind" && !kind.keys.contains($0) }
        for key in others where object.has(key) {
            let kinds = FramingKind.allCases.filter { $0.keys.contains(key) }.map { "\"\($0.rawValue)\"" }
            object.report.add(
                "\(object.path(of: key)) does not fit kind \"\(kind.rawValue)\"; it belongs to \(kinds.joined(separator: ", "))"
            )
        }
        if let key = kind.required, !object.has(key) {
            object.report.add("\(object.path(of: key)) is missing; kind \"\(kind.rawValue)\" needs it")
        }
    }

    private static func framing(_ kind: FramingKind, of object: ConfigurationObject, limit: Int) -> Framing? {
        switch kind {
        case .none: .some(.none)
        case .line: .line
        case .delimiter: mark("delimiter", of: object).map { .delimiter($0) }
        case .lengthPrefix: lengthPrefix(of: object, limit: limit).map { .lengthPrefix($0) }
        case .fixed: object.integer("length", in: 1...longestMessage).map { .fixed($0) }
        case .idle: object.span("gap", in: .milliseconds(1) ... .seconds(60)).map { .idle($0) }
        case .slip: .slip
        case .cobs: .cobs
        }
    }

    private static func lengthPrefix(of object: ConfigurationObject, limit: Int) -> Framing.LengthPrefix? {
        let start = mark("start", of: object) ?? []
        let offset = object.integer("offset", in: start.count...64) ?? start.count
        let size = object.read("size", expected: "1, 2 or 4") { value -> Int? in
            if case .integer(let whole) = value, [1, 2, 4].contains(whole) { Int(whole) } else { nil }
        }
        let endian = object.word("endian", as: Framing.Endian.self) ?? .little
        guard let size else { return nil }
        // By default the length counts the bytes that follow it.
        let extra = object.integer("extra", in: 0...1_024) ?? offset + size
        if limit < offset + size {
            object.report.add("framing.limit is \(limit), expected at least \(offset + size), the end of the length")
        }
        return .init(start: start, offset: offset, size: size, endian: endian, extra: extra)
    }

    private static func mark(_ key: String, of object: ConfigurationObject) -> [UInt8]? {
        object.read(key, expected: "1 to 16 bytes in hexadecimal, such as \"0d0a\"") { value in
            guard case .string(let text) = value, let bytes = [UInt8](hexadecimal: text), (1...16).contains(bytes.count)
            else { return nil }
            return bytes
        }
    }
}
