// Writes metrics in one of the two formats, line by line into bytes.
import WakeModel

struct ExpositionWriter {
    let format: ExpositionFormat
    private(set) var bytes: [UInt8] = []
    private var name: [UInt8] = []

    init(_ format: ExpositionFormat) { self.format = format }

    /// The samples of this family follow, and none of it later.
    mutating func begin(_ family: MetricFamily) {
        name = Array(family.sampleName.utf8)
        switch format {
        case .openMetrics:
            comment("TYPE", family.name, family.kind.rawValue)
            if let unit = family.unit { comment("UNIT", family.name, unit.rawValue) }
            comment("HELP", family.name, family.help)
        case .prometheusText:
            comment("HELP", family.sampleName, family.help)
            comment("TYPE", family.sampleName, family.kind.textName)
        }
    }

    private mutating func comment(_ word: String, _ name: String, _ text: String) {
        bytes.append(contentsOf: "# \(word) \(name) ".utf8)
        bytes.appendEscaped(text, quotes: format == .openMetrics)
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func sample(_ labels: MetricLabels, _ value: Double) {
        write(labels)
        append(value)
    }

    mutating func sample(_ labels: MetricLabels, _ count: UInt64) {
        write(labels)
        append(count)
    }

    mutating func sample(_ labels: MetricLabels, _ count: Int) {
        sample(labels, UInt64(clamping: count))
    }

    mutating func sample(_ labels: MetricLabels, _ span: TimeSpan) { sample(labels, span.seconds) }

    mutating func sample(_ labels: MetricLabels, _ flag: Bool) { sample(labels, flag ? 1 as UInt64 : 0) }

    /// Buckets are written as sums: each has all that is not longer.
    mutating func sample(_ labels: MetricLabels, _ histogram: DurationHistogram) {
        var total: UInt64 = 0
        for (count, bound) in zip(histogram.counts, histogram.scale.texts + ["+Inf"]) {
            total += count
            write(labels.adding("le", bound), suffix: "_bucket")
            append(total)
        }
        write(labels, suffix: "_sum")
        append(histogram.sum.seconds)
        write(labels, suffix: "_count")
        append(total)
    }

    /// Ends the text.
    mutating func end() {
        if format == .openMetrics { bytes.append(contentsOf: "# EOF\n".utf8) }
    }

    private mutating func write(_ labels: MetricLabels, suffix: StaticString = "") {
        bytes.append(contentsOf: name)
        suffix.withUTF8Buffer { bytes.append(contentsOf: $0) }
        if !labels.bytes.isEmpty {
            bytes.append(UInt8(ascii: "{"))
            bytes.append(contentsOf: labels.bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: " "))
    }

    private mutating func append(_ count: UInt64) {
        bytes.appendDecimal(count)
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func append(_ value: Double) {
        if let whole = Int64(exactly: value) {
            bytes.appendDecimal(whole)
        } else if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            bytes.append(contentsOf: (value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf").utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension MetricFamily.Kind {
    /// The text format has no kind of its own for labels alone.
    fileprivate var textName: String {
        switch self {
        case .info: "gauge"
        case .counter, .gauge, .histogram: rawValue
        }
    }
}
