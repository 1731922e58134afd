// A handler's standard output as lines: bytes come in pieces, long lines are cut, what is no text is shown as such.
struct LogLines {
    /// Bytes.
    let longestLine: Int
    private var partial: [UInt8] = []

    init(longestLine: Int) { self.longestLine = longestLine }

    /// Tells each whole line; with `isLast`, what is left as well.
    mutating func append(_ bytes: [UInt8], isLast: Bool, _ tell: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                flush(tell)
            } else {
                partial.append(byte)
                if partial.count >= longestLine { flush(tell) }
            }
        }
        if isLast, !partial.isEmpty, bytes.isEmpty { flush(tell) }
    }

    /// Control characters could rewrite an operator's terminal, so none passes.
    private mutating func flush(_ tell: (String) -> Void) {
        let text = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        tell(String(text.map { $0.isControl ? "\u{fffd}" : $0 }))
    }
}

extension Character {
    fileprivate var isControl: Bool {
        self != "\t" && unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }
    }
}
