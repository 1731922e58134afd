// wakebridge record: its options; Engine+Record.swift does the recording.
import WakeModel
import WakeWords

struct RecordOptions: Hashable {
    enum Subject: Hashable {
        /// Devices by alias, source or address, as the daemon receives their events.
        case devices([String])
        /// All packets of the controllers.
        case air
    }

    var subject: Subject
    var output: String
    /// Nil to record until Ctrl-C.
    var span: TimeSpan?
}

extension Verb {
    static var record: Verb {
        Verb(
            name: "record", summary: "write what devices do into a trace, as it happens",
            synopsis: ["DEVICE ... -o FILE.trace [--for 60s]", "--air FILE.btsnoop [--for 60s]"],
            detail:
                "DEVICE is an alias, a source or an address that a running daemon knows. Ends at Ctrl-C. What was lost "
                + "and what wants a person stands in the trace as comments. With --air everything that passes between "
                + "this machine and its Bluetooth controllers is captured; that needs no daemon, but root.",
            flags: [
                Flag("output", short: "o", value: "FILE", "where the recording goes"),
                Flag("air", value: "FILE", "capture all of Bluetooth into FILE, as btmon does"),
                Flag("for", value: "TIME", "end by itself after so long: 60s, 5m"),
            ] + daemonFlags
        ) { words throws(Complaint) in
            let options = try RecordOptions(words)
            switch options.subject {
            case .devices(let names): return try recordDevices(names, options, words.client)
            case .air: return try recordAir(options)
            }
        }
    }
}

extension RecordOptions {
    init(_ words: ParsedWords) throws(Complaint) {
        if let capture = words.value("air") {
            if words.has("output") { throw .usage("--air names its file itself; leave out --output") }
            if let device = words.operands.first {
                throw .usage("--air captures everything; leave out '\(device)'")
            }
            try words.atMost(0)
            self.init(subject: .air, output: capture, span: try words.time("for"))
            return
        }
        try words.atMost(.max)
        guard !words.operands.isEmpty else { throw .usage("a DEVICE must be named") }
        guard let output = words.value("output") else { throw .usage("say where the recording goes with -o FILE") }
        self.init(subject: .devices(words.operands), output: output, span: try words.time("for"))
    }
}
