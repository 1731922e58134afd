// Blanks comments and literals of Swift text, so that a rule about code does not stumble over prose. Code inside an
// interpolation is code.

struct SwiftText {
    private let source: [UInt8]
    private var place = 0
    private var result: [UInt8] = []

    static func code(of text: String) -> String {
        var scan = SwiftText(source: Array(text.utf8))
        scan.takeCode(untilParenthesis: false)
        return String(decoding: scan.result, as: UTF8.self)
    }

    private init(source: [UInt8]) {
        self.source = source
        result.reserveCapacity(source.count)
    }

    private func sees(_ text: StaticString) -> Bool {
        sees(Array(text.description.utf8))
    }

    private func sees(_ bytes: [UInt8]) -> Bool {
        source[place...].starts(with: bytes)
    }

    private mutating func keep() {
        result.append(source[place])
        place += 1
    }

    /// Newlines stay, so that line numbers do.
    private mutating func blank(_ count: Int = 1) {
        for byte in source[place..<min(place + count, source.count)] {
            result.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
        }
        place = min(place + count, source.count)
    }

    private mutating func takeCode(untilParenthesis isInside: Bool) {
        var depth = 0
        while place < source.count {
            switch source[place] {
            case UInt8(ascii: "/") where sees("//"): while place < source.count, !sees("\n") { blank() }
            case UInt8(ascii: "/") where sees("/*"): takeBlockComment()
            case UInt8(ascii: "\""), UInt8(ascii: "#"): takeLiteral()
            case UInt8(ascii: "("):
                depth += 1
                keep()
            case UInt8(ascii: ")"):
                depth -= 1
                keep()
                if isInside, depth == 0 { return }
            default: keep()
            }
        }
    }

    private mutating func takeBlockComment() {
        var depth = 0
        repeat {
            if sees("/*") {
                depth += 1
                blank(2)
            } else if sees("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && place < source.count
    }

    /// A literal with any number of pounds, of one line or several; or a pound that begins none.
    private mutating func takeLiteral() {
        var pounds: [UInt8] = []
        while place + pounds.count < source.count, source[place + pounds.count] == UInt8(ascii: "#") {
            pounds.append(UInt8(ascii: "#"))
        }
        let quote = UInt8(ascii: "\"")
        guard sees(pounds + [quote]) else { return keep() }
        let isLong = sees(pounds + [quote, quote, quote])
        let end = (isLong ? [quote, quote, quote] : [quote]) + pounds
        blank(end.count)
        let escape = [UInt8(ascii: "\\")] + pounds
        while place < source.count, !sees(end) {
            if sees(escape + [UInt8(ascii: "(")]) {
                blank(escape.count)
                takeCode(untilParenthesis: true)
            } else {
                blank(sees(escape) ? escape.count + 1 : 1)
            }
        }
        blank(end.count)
    }
}
