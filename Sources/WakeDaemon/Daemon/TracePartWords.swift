// The part of a trace to play, as command lines of the daemon and the tool write it.
import WakeArguments
import WakeModel
import WakeTrace

extension TracePart {
    public static let flags = [
        Flag("from", value: "TIME", "begin there in the trace: 90s, or 2026-11-21T07:42:46Z"),
        Flag("until", value: "TIME", "play nothing of then or later"),
        Flag("only", value: "DEVICE", "play this device of the trace; may be given again"),
    ]

    public init(_ words: ParsedArguments) throws(Complaint) {
        let devices = words.options.filter { $0.name == "only" }.compactMap { $0.value }
        self.init(from: try words.mark("from"), until: try words.mark("until"), devices: devices)
        if let from, let until, from.isBefore(until) == false {
            throw .usage("--until \(until) is not after --from \(from)")
        }
    }
}

extension ParsedArguments {
    /// A time in a trace; nil where the option is absent.
    public func mark(_ name: String) throws(Complaint) -> TraceMark? {
        guard let text = value(name) else { return nil }
        guard let mark = TraceMark(text) else {
            throw .usage("--\(name) '\(text)' is no time such as 90s, 5m or 2026-11-21T07:42:46Z")
        }
        return mark
    }
}
