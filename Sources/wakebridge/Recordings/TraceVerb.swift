// wakebridge trace: what is in a trace, how two differ, and traces made of one: a part, another time, nothing private.
import WakeArguments
import WakeDaemon
import WakeModel
import WakeTrace
import WakeTraceEditing

extension Verb {
    static var trace: Verb {
        Verb(
            name: "trace", summary: "look into a trace, compare two, cut one, shift it, or make it anonymous",
            synopsis: [
                "info [--json] FILE.trace", "diff [--json] FILE.trace FILE.trace",
                "cut [--from TIME] [--until TIME] [--only DEVICE]… [-o FILE.trace [--json]] FILE.trace",
                "shift [--by TIME | --to TIME] [-o FILE.trace [--json]] FILE.trace",
                "anonymise [--word TEXT]… [--keep-names] [-o FILE.trace [--json]] FILE.trace",
            ],
            detail: """
                'info' counts what each device did. 'diff' shows the first operation that is not the same, and the
                counts that differ; exit status 1 if anything does.

                'cut' keeps what happened from one TIME until another, and begins with the links, conditions and
                manifests of then. TIME is since the start of the trace, such as 90s, or such as 2026-11-21T07:42:46Z.
                'shift' moves the trace by a TIME such as 1h or -1h, or to one at which it begins.

                'anonymise' replaces addresses, names, serial numbers, and positions that receivers tell, each the same
                everywhere. Look at the result before you share it: what else a device says stays.
                """,
            examples: [
                "wakebridge trace info ride.trace",
                "wakebridge trace cut ride.trace --from 5m --until 10m -o part.trace",
            ],
            flags: [
                Flag("output", short: "o", value: "FILE", "where the trace goes; standard output if not given"),
                Flag("from", value: "TIME", "with cut: leave out what was before"),
                Flag("until", value: "TIME", "with cut: leave out what was then or later"),
                Flag("only", value: "DEVICE", "with cut: keep this device of the trace; may be given again"),
                Flag("by", value: "TIME", "with shift: move it by so much"),
                Flag("to", value: "TIME", "with shift: let it begin then"),
                Flag("word", value: "TEXT", "with anonymise: replace this too; may be given again"),
                Flag("keep-names", "with anonymise: leave names, for profiles that know a device by its name"),
                Flag("json", short: "j", "print one JSON document; with cut, shift and anonymise only beside -o"),
            ],
            operands: [.word(TraceDeed.allCases.map { Operand.Choice(word: $0.rawValue, then: $0.operands) })]
        ) { words throws(Complaint) in
            let deed = try TraceDeed(words)
            let files = try deed.files(words)
            switch deed {
            case .info: return try printContents(of: files[0], asJSON: words.has("json"))
            case .diff: return try printDifference(files[0], files[1], asJSON: words.has("json"))
            case .cut: return try cutTrace(files[0], words)
            case .shift: return try shiftTrace(files[0], words)
            case .anonymise: return try anonymiseTrace(files[0], words)
            }
        }
    }
}

private enum TraceDeed: String, CaseIterable {
    case info, diff, cut, shift, anonymise

    init(_ words: ParsedArguments) throws(Complaint) {
        guard let word = words.operands.first else { throw .usage("say what: info, diff, cut, shift or anonymise") }
        guard let deed = TraceDeed(rawValue: word) else {
            let near = suggestion(for: word, among: TraceDeed.allCases.map(\.rawValue))
            throw .usage("'\(word)' is no deed of it.\(near)")
        }
        self = deed
    }

    var operands: [Operand] { Array(repeating: .file, count: fileCount) }

    private var fileCount: Int { self == .diff ? 2 : 1 }

    /// Options that not every deed has.
    private var options: Set<String> {
        switch self {
        case .info, .diff: []
        case .cut: ["output", "from", "until", "only"]
        case .shift: ["output", "by", "to"]
        case .anonymise: ["output", "word", "keep-names"]
        }
    }

    /// The files that the words name, where the options go with the deed too.
    func files(_ words: ParsedArguments) throws(Complaint) -> [String] {
        try words.atMost(fileCount + 1)
        let files = Array(words.operands.dropFirst())
        guard files.count == fileCount else {
            throw .usage(self == .diff ? "two traces must be named" : "a trace FILE must be named")
        }
        let others = Self.allCases.reduce(into: Set<String>()) { $0.formUnion($1.options) }.subtracting(options)
        if let option = words.options.first(where: { others.contains($0.name) }) {
            throw .usage("--\(option.name) does not go with \(rawValue)")
        }
        if !options.isEmpty, words.has("json"), !words.has("output") {
            throw .usage("--json goes with -o only: without it the trace is printed")
        }
        return files
    }
}

private func cutTrace(_ file: String, _ words: ParsedArguments) throws(Complaint) -> Int32 {
    let part = try TracePart(words)
    guard !part.isWhole else { throw .usage("say what to keep with --from, --until or --only") }
    return try remakeTrace(file, words, "cut") { (reader: TraceReader) throws -> TraceCut in
        try part.cut(part.readingHeader(of: reader, file))
    }
}

extension TracePart {
    /// The reader, which has read its header by then: each device of the part is there.
    func readingHeader(of reader: TraceReader, _ file: String) throws -> TraceReader {
        var reader = reader
        let header = try reader.header()
        if let device = devices.first(where: { header.places(named: $0).isEmpty }) {
            throw Complaint.notFound(
                "there is no device '\(device.printable)' in \(file); see which there are with: "
                    + "wakebridge trace info \(file.asShellWord)")
        }
        return reader
    }
}

private func shiftTrace(_ file: String, _ words: ParsedArguments) throws(Complaint) -> Int32 {
    let step: TraceShift.Step
    switch (words.value("by"), words.value("to")) {
    case (let text?, nil):
        guard let span = TraceShift.Step(by: text) else {
            throw .usage("--by '\(text)' is no time such as 90s, 1h or -1h")
        }
        step = span
    case (nil, let text?):
        guard let time = WallTime(rfc3339: text) else {
            throw .usage("--to '\(text)' is no time such as 2026-11-21T07:42:46Z")
        }
        step = .to(time)
    case (nil, nil), (.some, .some): throw .usage("say one of --by and --to")
    }
    return try remakeTrace(file, words, "shift") { (reader: TraceReader) throws -> TraceShift in
        try TraceShift(reader, step)
    }
}

private func anonymiseTrace(_ file: String, _ words: ParsedArguments) throws(Complaint) -> Int32 {
    let asked = words.options.filter { $0.name == "word" }.compactMap { $0.value }
    if let short = asked.first(where: { $0.utf8.count < 3 }) {
        throw .usage("--word '\(short)' is too short: messages hold these bytes by chance; give it three or more")
    }
    let terms = TraceMask.Terms(words: asked, keepsNames: words.has("keep-names"))
    return try remakeTrace(file, words, "anonymise") { (reader: TraceReader) throws -> TraceMask in
        try TraceMask(reader, terms)
    }
}
