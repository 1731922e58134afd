// A handler's standard output as lines: bytes come in pieces, long lines are cut, what is no text is shown as such.
struct LogLines {
    /// Bytes.
    let longestLine: Int
    private var partial: [UInt8] = []

    init(longestLine: Int) { self.longestLine = longestLine }

    /// Tells each whole line; with `isLast`, what is left as well.
    mutating func append(_ bytes: [UInt8], isLast: Bool, _ tell: (String) -> Void) {
        var start = 0
        for place in 0..<bytes.count {
            let isEnd = bytes[place] == UInt8(ascii: "\n")
            guard isEnd || partial.count + place - start + 1 == longestLine else { continue }
            partial.append(contentsOf: bytes[start..<(isEnd ? place : place + 1)])
            start = place + 1
            flush(tell)
        }
        partial.append(contentsOf: bytes[start...])
        if isLast, !partial.isEmpty, bytes.isEmpty { flush(tell) }
    }

    /// Control characters could rewrite an operator's terminal, so none passes. Characters are told apart only where there are any
    /// but the plain ones of ASCII: that costs much more than reading them.
    private mutating func flush(_ tell: (String) -> Void) {
        let isPlain = partial.allSatisfy { $0 >= 0x20 && $0 < 0x7f || $0 == UInt8(ascii: "\t") }
        let text = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        tell(isPlain ? text : String(text.map { $0.isControl ? "\u{fffd}" : $0 }))
    }
}

extension Character {
    fileprivate var isControl: Bool {
        self != "\t" && unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }
    }
}
