// One JSON5 document as a tree: the only place that uses FoundationEssentials' decoder.
import FoundationEssentials

/// A value from a file that a person wrote. Object members have no order: the decoder keeps none.
public enum ConfigurationValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([ConfigurationValue])
    case object(ConfigurationMembers)

    /// Larger files are refused without being read.
    public static let largestFile = 1 << 20

    /// Reads one document. Throws one sentence, with line and column, where the text is not JSON5.
    public init(parsing text: [UInt8], file: String) throws(ConfigurationError) {
        guard text.count <= Self.largestFile else {
            throw ConfigurationError(file: file, sentence: "the file is larger than 1 MiB; this is not a configuration")
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw ConfigurationError(file: file, sentence: "the file is not UTF-8 text; save it as UTF-8")
        }
        do {
            if let plain = try ConfigurationOutline.read(text) {
                self = plain
                return
            }
        } catch {
            throw ConfigurationError(file: file, sentence: "\(Self.place(of: error.offset, in: text)): \(error.reason)")
        }
        self = try Self.decoded(text, file)
    }

    /// Uses FoundationEssentials, which reads what JSON5 allows beside plain numbers and texts.
    static func decoded(_ text: [UInt8], _ file: String) throws(ConfigurationError) -> ConfigurationValue {
        do {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            return try decoder.decode(ConfigurationValue.self, from: Data(text))
        } catch {
            throw ConfigurationError(file: file, sentence: sentence(for: error))
        }
    }

    /// Lines and columns count from 1, columns in characters.
    private static func place(of offset: Int, in text: [UInt8]) -> String {
        let before = text[..<min(offset, text.count)]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return "line \(line), column \(String(decoding: before[start...], as: UTF8.self).count + 1)"
    }

    /// The faults that the outline accepts and the decoder refuses: malformed numbers and escapes.
    private static func sentence(for error: any Error) -> String {
        guard let error = error as? DecodingError, case .typeMismatch(_, let context) = error else {
            return "a number or an escape in a text is malformed (JSON5); look for one and fix it"
        }
        var path = ""
        for key in context.codingPath {
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
        }
        return "\(path) is a number that cannot be read; fix it or write a smaller one"
    }
}

extension ConfigurationValue: Decodable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let flag = try? single.decode(Bool.self) {
            self = .boolean(flag)
        } else if let text = try? single.decode(String.self) {
            self = .text(text)
        } else if let whole = try? single.decode(Int64.self) {
            self = .integer(whole)
        } else if let real = try? single.decode(Double.self) {
            self = .number(real)
        } else {
            self = try Self.container(of: decoder)
        }
    }

    private static func container(of decoder: any Decoder) throws -> ConfigurationValue {
        if var list = try? decoder.unkeyedContainer() {
            var values: [ConfigurationValue] = []
            while !list.isAtEnd { values.append(try list.decode(ConfigurationValue.self)) }
            return .list(values)
        }
        let object = try decoder.container(keyedBy: Key.self)
        var members = ConfigurationMembers()
        for key in object.allKeys {
            members.append(key.stringValue, try object.decode(ConfigurationValue.self, forKey: key))
        }
        return .object(members)
    }
}

extension ConfigurationValue: CustomStringConvertible {
    /// The value as a sentence names it.
    public var description: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let whole): "\(whole)"
        case .number(let real): "\(real)"
        case .text(let text): "\"\(text.count > 40 ? "\(text.prefix(40))…" : text)\""
        case .list: "a list"
        case .object: "an object"
        }
    }
}
