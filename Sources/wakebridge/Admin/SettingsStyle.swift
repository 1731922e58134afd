// The style of wakebridge.json5 as its owner writes it: how lines are indented, and whether names have quotation marks. Pure.
import WakeModel

struct SettingsStyle {
    /// The indentation of a key of the document.
    let indentation: String
    private let quotesNames: Bool

    /// - Parameter text: of the whole file.
    init(of text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let margins = lines.map { $0.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
        let first = zip(lines, margins).first { !$1.isEmpty && $1.count < $0.count }
        indentation = first.map { String(decoding: $0.1, as: UTF8.self) } ?? "  "
        let tokens = Token.all(in: text).filter { $0.kind != .comment }
        quotesNames = tokens.dropFirst().first?.bytes.first == UInt8(ascii: "\"")
    }

    /// A value or member on one line, with spaces as a person sets them. One with comments or lines stays as it is.
    func written(_ text: String) -> String {
        let tokens = Token.all(in: Array(text.utf8))
        let isOneLine = !text.utf8.contains(UInt8(ascii: "\n"))
        guard isOneLine, tokens.allSatisfy({ $0.kind != .comment }) else { return text }
        var line = ""
        for (place, token) in tokens.enumerated() {
            let next = place + 1 < tokens.count ? tokens[place + 1].kind : nil
            let isEmpty = place > 0 && tokens[place - 1].kind == .opening && token.kind == .closing
            line += written(token, before: next, closesEmpty: isEmpty)
        }
        return line
    }

    private func written(_ token: Token, before next: Token.Kind?, closesEmpty: Bool) -> String {
        let text = String(decoding: token.bytes, as: UTF8.self)
        switch token.kind {
        case .opening: return text == "{" && next != .closing ? "{ " : text
        case .closing: return text == "}" && !closesEmpty ? " }" : text
        case .comma: return next == .closing ? "" : ", "
        case .colon: return ": "
        case .word, .string, .comment: return next == .colon ? name(token) : text
        }
    }

    private func name(_ token: Token) -> String {
        let isQuoted = token.kind == .string
        let name = String(decoding: isQuoted ? token.bytes.dropFirst().dropLast() : token.bytes, as: UTF8.self)
        let isPlain =
            name.first?.isNumber == false && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isLetterOrDigit }
        guard isPlain else { return String(decoding: token.bytes, as: UTF8.self) }
        return quotesNames ? name.asJSON : name
    }
}

/// A part of JSON5, as it is written.
private struct Token {
    enum Kind { case opening, closing, comma, colon, word, string, comment }

    let kind: Kind
    let bytes: ArraySlice<UInt8>

    private static let signs: [UInt8: Kind] = [
        UInt8(ascii: "{"): .opening, UInt8(ascii: "["): .opening, UInt8(ascii: "}"): .closing,
        UInt8(ascii: "]"): .closing, UInt8(ascii: ","): .comma, UInt8(ascii: ":"): .colon,
    ]

    static func all(in text: [UInt8]) -> [Token] {
        var (tokens, place): ([Token], Int) = ([], 0)
        while place < text.count {
            let start = place
            let kind: Kind
            switch text[place] {
            case let byte where SettingsText.isSpace(byte):
                place += 1
                continue
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                kind = .string
                place = SettingsText.end(ofStringAt: place, in: text) ?? text.count
            case UInt8(ascii: "/"):
                kind = .comment
                place = SettingsText.end(ofCommentAt: place, in: text)
            case let byte:
                kind = signs[byte] ?? .word
                place += 1
                if kind == .word { place += text[place...].prefix { isOfWord($0) }.count }
            }
            tokens.append(Token(kind: kind, bytes: text[start..<max(place, start + 1)]))
        }
        return tokens
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        signs[byte] == nil && !SettingsText.isSpace(byte) && !["\"", "'", "/"].map { UInt8(ascii: $0) }.contains(byte)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
