// The text of wakebridge.json5, in which one value is set: comments and all else stay as they are. Pure.
import WakeModel

struct SettingsText {
    private(set) var text: [UInt8]

    /// - Parameter text: empty where there is no file.
    init(_ text: [UInt8]) { self.text = text.isEmpty ? Array("{\n}\n".utf8) : text }

    /// The names that lead to a value: `mqtt.fields.chest-strap.bpm.deadband` leads through the field `chest-strap.bpm`.
    static func names(of key: String) -> [String] {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        // A field's name has a dot, and so may a device's.
        for outer in [["mqtt", "fields"], ["devices"]] where parts.starts(with: outer) && parts.count > outer.count + 2
        {
            let middle = parts[outer.count..<(parts.count - 1)].joined(separator: ".")
            return outer + [middle, parts[parts.count - 1]]
        }
        return parts
    }

    /// Replaces the value at the end of `names`, or adds it with the objects that lead to it. False where the text has a form
    /// that cannot be changed so.
    mutating func set(_ names: [String], to value: String) -> Bool {
        guard let document = try? JSONValue(json5: text), let offsets = try? JSONValue.offsets(json5: text) else {
            return false
        }
        var (found, index, depth) = (document, 0, 0)
        while depth < names.count, case .object(let members) = found,
            let place = members.lastIndex(where: { $0.name == names[depth] })
        {
            index = members[..<place].reduce(index + 1) { $0 + $1.value.valueCount }
            found = members[place].value
            depth += 1
        }
        guard offsets.indices.contains(index) else { return false }
        let style = SettingsStyle(of: text)
        if depth == names.count { return replace(at: offsets[index], with: style.written(value)) }
        guard case .object = found else { return false }
        return insert(names[depth...], value, behind: offsets[index], depth: depth + 1, style)
    }

    private mutating func replace(at start: Int, with value: String) -> Bool {
        guard let end = Self.end(ofValueAt: start, in: text) else { return false }
        text.replaceSubrange(start..<end, with: Array(value.utf8))
        return true
    }

    /// As the first member of the object that begins at `brace`.
    private mutating func insert(
        _ names: ArraySlice<String>, _ value: String, behind brace: Int, depth: Int, _ style: SettingsStyle
    ) -> Bool {
        guard text.indices.contains(brace), text[brace] == UInt8(ascii: "{") else { return false }
        let inner = names.dropFirst().reversed().reduce(value) { "{\($1.asJSON):\($0)}" }
        let member = style.written("\((names.first ?? "").asJSON):\(inner)")
        let isEmpty = text[(brace + 1)...].first { !Self.isSpace($0) } == UInt8(ascii: "}")
        let hasLines = text[(brace + 1)...].prefix { Self.isSpace($0) }.contains(UInt8(ascii: "\n"))
        // A key of the document has a line of its own, so that it can be taken out again.
        let start = hasLines || depth == 1 ? "\n" + String(repeating: style.indentation, count: depth) : " "
        let rest = hasLines || depth == 1 || !isEmpty ? "," : " "
        text.insert(contentsOf: Array("\(start)\(member)\(rest)".utf8), at: brace + 1)
        return true
    }

    static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    /// Just behind a value of a text that is whole.
    private static func end(ofValueAt start: Int, in text: [UInt8]) -> Int? {
        var (place, depth) = (start, 0)
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = end(ofStringAt: place, in: text) else { return nil }
                place = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // That of the object around it.
                if depth == 0 { return place }
                depth -= 1
                place += 1
            case UInt8(ascii: "/"):
                if depth == 0 { return place }
                place = end(ofCommentAt: place, in: text)
                continue
            case let byte where depth == 0 && (byte == UInt8(ascii: ",") || isSpace(byte)): return place
            default:
                place += 1
                continue
            }
            if depth == 0 { return place }
        }
        return place
    }

    static func end(ofStringAt start: Int, in text: [UInt8]) -> Int? {
        var place = start + 1
        while place < text.count, text[place] != text[start] { place += text[place] == UInt8(ascii: "\\") ? 2 : 1 }
        return place < text.count ? place + 1 : nil
    }

    static func end(ofCommentAt start: Int, in text: [UInt8]) -> Int {
        let isBlock = text.dropFirst(start + 1).first == UInt8(ascii: "*")
        var place = start + 2
        while place < text.count {
            if !isBlock, text[place] == UInt8(ascii: "\n") { return place }
            if isBlock, text[place] == UInt8(ascii: "/"), text[place - 1] == UInt8(ascii: "*"), place > start + 2 {
                return place + 1
            }
            place += 1
        }
        return text.count
    }
}

extension JSONValue {
    /// The values in it, and itself.
    fileprivate var valueCount: Int {
        switch self {
        case .null, .boolean, .integer, .number, .string: 1
        case .array(let values): values.reduce(1) { $0 + $1.valueCount }
        case .object(let members): members.reduce(1) { $0 + $1.value.valueCount }
        }
    }
}
