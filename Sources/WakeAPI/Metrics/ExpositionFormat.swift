// The two formats of metrics, and which of them a client asks for.

enum ExpositionFormat: Sendable, CaseIterable {
    /// OpenMetrics 1.0.
    case openMetrics
    /// The text format of Prometheus, version 0.0.4.
    case prometheusText

    var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheusText: "text/plain; version=0.0.4; charset=utf-8"
        }
    }

    /// By the `Accept` of a request: OpenMetrics, unless the text format is preferred to it.
    init(accepting accept: String) {
        let ranges = accept.split(separator: ",").compactMap { MediaRange($0) }
        let anything = ranges.quality { $0.type == "*/*" }
        let open = ranges.quality { $0.type == "application/openmetrics-text" && $0.version ?? "1.0.0" == "1.0.0" }
        let plain = ranges.quality { $0.type == "text/plain" || $0.type == "text/*" }
        self = plain ?? anything ?? 0 > open ?? anything ?? 0 ? .prometheusText : .openMetrics
    }
}

/// A part of an `Accept`: a type, how much it is wanted, and which version.
private struct MediaRange {
    let type: String
    private(set) var quality = 1.0
    private(set) var version: String?

    /// Nil for a part that names no type.
    init?(_ text: Substring) {
        let parts = text.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
        guard let type = parts.first, type.contains("/") else { return nil }
        self.type = type
        for parameter in parts.dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            if pair[0] == "q" { quality = Double(pair[1]).map { $0.isFinite ? $0 : 0 } ?? 0 }
            if pair[0] == "version" { version = String(pair[1]) }
        }
    }
}

extension [MediaRange] {
    /// Nil where no part fits.
    fileprivate func quality(where fits: (MediaRange) -> Bool) -> Double? { filter(fits).map(\.quality).max() }
}
