// Finds the members of a JSON5 object without reading their values: most of a profile is not needed at start.
import WakeModel

enum ProfileSkimmer {
    private static let wanted = ["name", "title", "mode", "match", "node"]

    /// The head of a profile, or its faults. Nil if the text has to be read whole.
    static func head(
        of source: ProfileLibrary.Source, _ whole: [UInt8]
    ) throws(ConfigurationErrors) -> ProfileHead? {
        guard let text = reduced(whole) else { return nil }
        let report = ConfigurationReport(file: source.file)
        let required = ["name", "title", "mode", "match"]
        let object = ConfigurationObject(document: text, keys: ProfileDocument.keys, required: required, report: report)
        var head = object.flatMap { ProfileDocument.head(of: $0, folder: source.name) }
        if let object, head?.kind == .externalAccessory { head?.node = ProfileDocument.node(of: object) }
        try report.conclude()
        return head
    }

    /// The same object with the wanted members alone, and of `streams` their names.
    private static func reduced(_ text: [UInt8]) -> [UInt8]? {
        guard let members = members(of: text[...]) else { return nil }
        var reduced: [UInt8] = [UInt8(ascii: "{")]
        for member in members where wanted.contains(member.name) || member.name == "streams" {
            reduced += "\"\(member.name)\":".utf8
            if member.name == "streams" {
                guard let streams = Self.members(of: text[member.value]) else { return nil }
                reduced += "{\(streams.map { "\"\($0.name)\":0" }.joined(separator: ","))}".utf8
            } else {
                reduced += text[member.value]
            }
            // A comment may end the value.
            reduced += "\n,".utf8
        }
        reduced.append(UInt8(ascii: "}"))
        return reduced
    }

    /// Nil if the text is no plain object.
    static func members(of text: ArraySlice<UInt8>) -> [(name: String, value: Range<Int>)]? {
        var scanner = Scanner(rest: text)
        guard scanner.takes(UInt8(ascii: "{")) else { return nil }
        var members: [(name: String, value: Range<Int>)] = []
        while true {
            if scanner.takes(UInt8(ascii: "}")) { return scanner.isAtEnd ? members : nil }
            guard let name = scanner.key(), scanner.takes(UInt8(ascii: ":")), let value = scanner.value() else {
                return nil
            }
            members.append((name, value))
            if !scanner.takes(UInt8(ascii: ",")), scanner.next != UInt8(ascii: "}") { return nil }
        }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        var next: UInt8? { rest.first }

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return rest.isEmpty
            }
        }

        mutating func takes(_ byte: UInt8) -> Bool {
            skipSpace()
            guard rest.first == byte else { return false }
            rest.removeFirst()
            skipSpace()
            return true
        }

        mutating func key() -> String? {
            skipSpace()
            guard let quote = rest.first else { return nil }
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                let name = rest.dropFirst().prefix { $0 != quote }
                guard !name.contains(UInt8(ascii: "\\")), rest.count > name.count + 1 else { return nil }
                rest = rest.dropFirst(name.count + 2)
                return plain(name)
            }
            let name = rest.prefix { $0 != UInt8(ascii: ":") && $0 > 0x20 && $0 != UInt8(ascii: "/") }
            rest = rest.dropFirst(name.count)
            return plain(name)
        }

        private func plain(_ name: ArraySlice<UInt8>) -> String? {
            guard name.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }) else { return nil }
            return String(decoding: name, as: UTF8.self)
        }

        /// Up to the comma or the bracket that ends it.
        mutating func value() -> Range<Int>? {
            let start = rest.startIndex
            var depth = 0
            while let byte = rest.first {
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return start..<rest.startIndex }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0: return start..<rest.startIndex
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    guard skipText(byte) else { return nil }
                    continue
                case UInt8(ascii: "/"):
                    skipSpace()
                    if rest.first == byte { return nil }
                    continue
                default: break
                }
                rest.removeFirst()
            }
            return nil
        }

        private mutating func skipText(_ quote: UInt8) -> Bool {
            rest.removeFirst()
            while let byte = rest.first, byte != quote {
                rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
            }
            guard !rest.isEmpty else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func skipSpace() {
            while let byte = rest.first {
                if byte <= 0x20 || byte == 0xef || byte == 0xbb || byte == 0xbf {
                    rest.removeFirst()
                } else if rest.starts(with: "//".utf8) {
                    rest = rest.drop { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
                } else if rest.starts(with: "/*".utf8) {
                    rest = rest.dropFirst(2)
                    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
                    rest = rest.dropFirst(2)
                } else {
                    return
                }
            }
        }
    }
}
