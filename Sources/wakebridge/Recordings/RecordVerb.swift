// wakebridge record: the daemon's stream of events, or every packet of the radios, written into a file.
import CCurl
import Glibc
import WakeArguments
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace

struct RecordOptions: Hashable {
    enum Subject: Hashable {
        /// Devices by alias, source or address, as the daemon receives their events.
        case devices([String])
        /// The same, and what the machine and its handlers do.
        case day([String])
        /// All packets of the controllers.
        case air
    }

    var subject: Subject
    var output: String
    /// Nil to record until Ctrl-C.
    var span: TimeSpan?
    var printsJSON = false
}

extension Verb {
    static var record: Verb {
        Verb(
            name: "record", summary: "write what devices do into a trace, as it happens",
            synopsis: [
                "DEVICE ... -o FILE.trace [--for 60s] [--json]", "--day [DEVICE ...] -o FILE.trace [--for 1d] [--json]",
                "--air FILE.btsnoop [--for 60s] [--json]",
            ],
            detail:
                "The daemon must run, and know each DEVICE. Ends at Ctrl-C. What was lost and "
                + "what wants a person stands in the trace as comments. With --day the trace also holds the manifests of "
                + "all handlers, what they order, and what the machine does, so that it replays by itself. With --air "
                + "everything that passes between "
                + "this machine and its Bluetooth controllers is captured; that needs no daemon, but root.",
            examples: [
                "wakebridge record chest-strap -o ride.trace --for 60s",
                "sudo wakebridge record --air capture.btsnoop",
            ],
            flags: [
                Flag("output", short: "o", value: "FILE", "where the recording goes"),
                Flag("day", "also what the machine and its handlers do; goes on when the daemon begins anew"),
                Flag("air", value: "FILE", "capture all of Bluetooth into FILE, as btmon does"),
                Flag("for", short: "w", value: "TIME", "end by itself after so long: 60s, 5m"),
                Flag("json", short: "j", "print what was recorded as one JSON document"),
            ] + daemonFlags, operands: [.several(.device)]
        ) { words throws(Complaint) in
            let options = try RecordOptions(words)
            switch options.subject {
            case .devices(let names), .day(let names): return try recordDevices(names, options, words.client)
            case .air: return try recordAir(options)
            }
        }
    }
}

extension RecordOptions {
    init(_ words: ParsedArguments) throws(Complaint) {
        if let capture = words.value("air") {
            if words.has("output") { throw .usage("--air names its file itself; leave out --output") }
            if words.has("day") { throw .usage("--air captures packets, and a day has none; leave out --day") }
            if let device = words.operands.first {
                throw .usage("--air captures everything; leave out '\(device)'")
            }
            try words.atMost(0)
            self.init(
                subject: .air, output: capture, span: try words.time("for"), printsJSON: words.has("json"))
            return
        }
        try words.atMost(.max)
        let isDay = words.has("day")
        guard !words.operands.isEmpty || isDay else { throw .usage("a DEVICE must be named") }
        guard let output = words.value("output") else { throw .usage("say where the recording goes with -o FILE") }
        self.init(
            subject: isDay ? .day(words.operands) : .devices(words.operands), output: output,
            span: try words.time("for"),
            printsJSON: words.has("json"))
    }
}

/// The record verb's work: passes the daemon's stream of events through the recorder into a file, line by line.
func recordDevices(
    _ names: [String], _ options: RecordOptions, _ client: ControlClient
) throws(Complaint) -> Int32 {
    var chosen: [JSONValue] = []
    for name in names {
        let device = try client.device(named: name).json
        if !chosen.contains(device) { chosen.append(device) }
    }
    let recording = try Recording(chosen, options)
    let query = chosen.count == 1 ? "?device=" + (chosen[0]["source"]?.string ?? "").percentEncoded : ""
    let ending = try recording.followed {
        () throws(Complaint) in
        switch options.subject {
        case .day: try client.followDay(recording)
        case .devices, .air:
            try client.follow(.get, "/v1/events\(query)", pace: recording.pace) { recording.record($0) }
        }
    }
    try recording.finish()
    return try Verb.finish(ending, "the daemon ended the stream of events; what came before is in \(options.output)")
}

extension ControlClient {
    /// How long a daemon that has ended may take to begin anew.
    private static let patience = TimeSpan.seconds(30)

    /// A day does not end with the daemon, which may have been updated.
    fileprivate func followDay(_ recording: Recording) throws(Complaint) -> Ending {
        while true {
            do {
                let ending = try follow(.get, "/v1/day", pace: recording.pace) { recording.record($0) }
                guard ending == .closed else { return ending }
            } catch {
                // It went in the middle of a line.
                guard recording.hasBegun, case .notRunning = error else { throw error }
            }
            guard let ending = awaitDaemon(recording) else { continue }
            return ending
        }
    }

    /// Nil once it answers again.
    private func awaitDaemon(_ recording: Recording) -> Ending? {
        let end = SystemClock.monotonic() + Self.patience
        let interrupt = wake_interrupt_descriptor()
        defer { if interrupt >= 0 { close(interrupt) } }
        while SystemClock.monotonic() < end {
            guard recording.pace() != nil else { return .enough }
            var wait = pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 100) == 0 else { return .interrupted }
            if (try? ask(.get, "/v1/status", within: .seconds(5))) != nil { return nil }
        }
        return .closed
    }
}

/// A recording: after every line the file is a trace that only lacks its end.
private final class Recording {
    private let file: RecordingFile
    private var recorder: TraceRecorder
    private let count: Int

    init(_ devices: [JSONValue], _ options: RecordOptions) throws(Complaint) {
        count = devices.count
        let declared = devices.enumerated().compactMap { TraceDevice($1, number: $0 + 1) }
        let isUp = devices.map { $0["link"]?.string == "connected" }
        let subject: TraceRecorder.Subject = if case .day = options.subject { .day } else { .devices }
        recorder = TraceRecorder(declared, isUp: isUp, start: SystemClock.wall(), of: subject)
        file = try RecordingFile(options)
        file.write(recorder.begin())
    }

    /// Something was recorded.
    var hasBegun: Bool { recorder.hasBegun }

    func record(_ line: ArraySlice<UInt8>) { file.write(recorder.record(line, at: SystemClock.wall())) }

    /// Nil once the time is over, or nothing more can be recorded.
    func pace() -> TimeSpan? { recorder.cutShort == nil ? file.pace(summary) : nil }

    /// Writes the last line of the trace, however the stream ended.
    func followed(
        _ follow: () throws(Complaint) -> ControlClient.Ending
    ) throws(Complaint) -> ControlClient.Ending {
        do { return try follow() } catch {
            file.write(recorder.end(at: SystemClock.wall()))
            try file.finish(summary, members)
            throw error
        }
    }

    func finish() throws(Complaint) {
        file.write(recorder.end(at: SystemClock.wall()))
        try file.finish(summary, members)
        if let reason = recorder.cutShort { throw .failure("the recording is not whole: \(reason)") }
    }

    private var members: [(StaticString, Int)] {
        let counts = recorder.counts
        return [
            ("values", counts.values), ("connects", counts.connects), ("disconnects", counts.disconnects),
            ("remarks", counts.remarks), ("deeds", counts.deeds), ("devices", count),
        ]
    }

    private var summary: String {
        let counts = recorder.counts
        let remarks = counts.remarks > 0 ? ", \(counts.remarks.counted("remark"))" : ""
        let deeds = counts.deeds > 0 ? ", \(counts.deeds.counted("line")) of the machine and handlers" : ""
        return "\(counts.values.counted("value")), \(counts.connects.counted("connect")), "
            + "\(counts.disconnects.counted("disconnect"))\(remarks) of \(count.counted("device"))\(deeds)"
    }
}

extension TraceDevice {
    /// A device in the form of the control API.
    fileprivate init?(_ status: JSONValue, number: Int) {
        guard let source = status["source"]?.string else { return nil }
        let parts = source.split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let match = status["match"] ?? .null
        self.init(
            number: number, kind: .kept(status.text("mode")), address: String(parts[1]), alias: status["alias"]?.string,
            name: match["name_prefix"]?.string,
            services: match.list("services").compactMap { $0.string.flatMap { BluetoothUUID($0) } },
            properties: match.list("properties").map { ($0.text("name"), $0.text("value")) },
            advertisement: match["advertisement"]?.string.flatMap { [UInt8](hexadecimal: $0) } ?? [],
            reportDescriptor: status["report_descriptor"]?.string.flatMap { [UInt8](hexadecimal: $0) } ?? [])
    }
}

/// The work of record --air: writes every packet of the kernel's monitor channel into a btsnoop file, as btmon does.
func recordAir(_ options: RecordOptions) throws(Complaint) -> Int32 {
    do {
        var socket = try MonitorSocket(linksOnly: false)
        // Opened only now, so that a refusal leaves an older capture unchanged.
        let file = try RecordingFile(options, isSecret: true)
        file.write(AirCapture.header)
        var count = 0
        let interrupt = wake_interrupt_descriptor()
        defer { if interrupt >= 0 { close(interrupt) } }
        while let wait = file.pace(count.counted("packet")) {
            var waits = [socket.raw, interrupt].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&waits, nfds_t(waits.count), Int32(clamping: wait.wholeMilliseconds))
            count += try drain(&socket, into: file)
            if waits[1].revents != 0 { break }
        }
        try file.finish(count.counted("packet"), [("packets", count)])
        return 0
    } catch let complaint as Complaint {
        throw complaint
    } catch let error as SystemError where [.denied, .notPermitted].contains(error.errno) {
        throw .notPermitted("cannot record the air: \(error); use sudo")
    } catch {
        throw .failure("cannot record the air: \(error)")
    }
}

/// Writes the waiting packets, in portions, so that Ctrl-C and the terminal get a turn; returns their number.
private func drain(_ socket: inout MonitorSocket, into file: RecordingFile) throws(SystemError) -> Int {
    var count = 0
    while count < 256, let record = try socket.receive() {
        guard let bytes = AirCapture.record(record.bytes, at: record.time) else { continue }
        file.write(bytes)
        count += 1
    }
    return count
}

/// The file of a recording: written at once, for the requested time, with a progress line on the terminal.
final class RecordingFile {
    private let path: String
    private let printsJSON: Bool
    private let file: FileDescriptor
    private let begun = SystemClock.boottime()
    private let end: Instant?
    private let progress = ProgressLine.onTerminal()
    private var failure: Complaint?

    /// Replaces the file. Without a span only Ctrl-C ends it. A secret recording is readable only by its owner,
    /// whatever mode the old file had.
    init(_ options: RecordOptions, isSecret: Bool = false) throws(Complaint) {
        path = options.output
        printsJSON = options.printsJSON
        end = options.span.map { [begun] in begun + $0 }
        do throws(SystemError) {
            file = try isSecret ? File.createSecret(options.output) : File.open(options.output, for: .replace)
        } catch { throw .failure("cannot record: \(error)") }
    }

    /// A failed write makes the next ``pace(_:)`` end the recording.
    func write(_ bytes: [UInt8]) {
        var written = 0
        while written < bytes.count, failure == nil {
            do {
                guard case .wrote(let count) = try file.write(bytes, from: written) else { return }
                written += count
            } catch {
                failure = .failure("cannot write \(path): \(error.errno); what came before is kept")
            }
        }
    }

    /// How long the next wait may be; nil once the time is over, or nothing more can be written.
    func pace(_ summary: @autoclosure () -> String) -> TimeSpan? {
        let now = SystemClock.boottime()
        guard failure == nil else { return nil }
        progress?.show("recording for \((now - begun).spoken): \(summary())")
        let wait = progress == nil ? TimeSpan.seconds(60) : .seconds(1)
        guard let end else { return wait }
        return now < end ? min(wait, end - now + .milliseconds(1)) : nil
    }

    /// Prints a summary of the recording, or why it could not be written.
    func finish(_ summary: String, _ members: [(StaticString, Int)]) throws(Complaint) {
        progress?.clear()
        if let failure { throw failure }
        if printsJSON {
            Console.print(
                JSONWriter.line { writer in
                    writer.field("output", path)
                    for (name, count) in members { writer.field(name, count) }
                })
        }
        Console.note("\(path): \(summary) in \((SystemClock.boottime() - begun).spoken)")
    }
}
