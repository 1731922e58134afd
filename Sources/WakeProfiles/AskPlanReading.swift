// Reads the key `ask` of a profile.
import WakeModel

extension AskPlan {
    static let keys = ["start", "poll"]
    static let questionKeys = ["to", "bytes"]
    static let pollKeys = questionKeys + ["every", "when"]

    init(_ object: ConfigurationObject, kind: SourceKind) {
        self.init()
        guard let ask = object.object("ask", keys: Self.keys) else { return }
        start = (ask.objects("start", keys: Self.questionKeys, required: Self.questionKeys) ?? []).compactMap {
            Self.question($0, kind: kind)
        }
        poll = (ask.objects("poll", keys: Self.pollKeys, required: Self.questionKeys + ["every"]) ?? []).compactMap {
            guard let question = Self.question($0, kind: kind),
                let every = $0.span("every", in: .milliseconds(100) ... .seconds(86_400))
            else { return nil }
            return Poll(question, every: every, when: $0.word("when") ?? .awake)
        }
        if start.isEmpty, poll.isEmpty, ask.report.errors.isEmpty {
            ask.add("ask asks nothing; write start or poll, or leave it out")
        }
    }

    private static func question(_ object: ConfigurationObject, kind: SourceKind) -> Question? {
        let example =
            kind == .bluetoothCentral ? "a Bluetooth UUID such as \"fff2\"" : "\"serial\" or \"report-1\""
        let channel = object.read("to", expected: example) { value in
            value.string.flatMap { ProfileDocument.channel($0, kind: kind) }
        }
        let bytes = object.read("bytes", expected: "1 to 512 bytes in hexadecimal") { value in
            value.string.flatMap { [UInt8](hexadecimal: $0) }.flatMap { (1...512).contains($0.count) ? $0 : nil }
        }
        guard let channel, let bytes else { return nil }
        return Question(to: channel, bytes: bytes)
    }
}
