// The labels of a sample as they are written, made once for all samples that share them.

struct MetricLabels: Hashable, Sendable {
    static let none = MetricLabels()
    /// `handler="strap",by="thaw"`.
    private(set) var bytes: [UInt8] = []

    private init() {}

    init(_ name: StaticString, _ value: String) { append(name, value) }

    func adding(_ name: StaticString, _ value: String) -> MetricLabels {
        var labels = self
        labels.append(name, value)
        return labels
    }

    private mutating func append(_ name: StaticString, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: "=\"".utf8)
        bytes.appendEscaped(value, quotes: true)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension [UInt8] {
    /// A line of a scrape must not end within a text, nor a label's value.
    /// - Parameter quotes: whether a quotation mark would end the text.
    mutating func appendEscaped(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append(contentsOf: "\\\\".utf8)
            case UInt8(ascii: "\n"): append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\"") where quotes: append(contentsOf: "\\\"".utf8)
            default: append(byte)
            }
        }
    }
}
