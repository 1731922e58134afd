// The record verb's work: passes the daemon's stream of events through the recorder into a file, line by line.
import WakeModel
import WakeSystem
import WakeTrace
import WakeWords

func recordDevices(
    _ names: [String], _ options: RecordOptions, _ client: ControlClient
) throws(Complaint) -> Int32 {
    let known = try client.ask(.get, "/v1/devices").json.list("devices")
    var chosen: [JSONValue] = []
    for name in names {
        let device = try device(name, among: known)
        if !chosen.contains(device) { chosen.append(device) }
    }
    let recording = try Recording(chosen, options)
    let query = chosen.count == 1 ? "?device=" + (chosen[0]["source"]?.string ?? "").percentEncoded : ""
    let ending = try recording.followed {
        () throws(Complaint) in
        try client.follow(.get, "/v1/events\(query)", pace: recording.pace) { recording.record($0) }
    }
    try recording.finish()
    return try Verb.finish(ending, "the daemon ended the stream of events; what came before is in \(options.output)")
}

/// The named device: an alias first, then a source or an address, in the daemon's order.
private func device(_ name: String, among known: [JSONValue]) throws(Complaint) -> JSONValue {
    if let device = known.first(where: { $0["alias"]?.string == name }) { return device }
    let isMeant = { (device: JSONValue) in
        let source = device["source"]?.string ?? ""
        return source == name || source.hasSuffix("/" + name)
    }
    if let device = known.first(where: isMeant) { return device }
    let near = suggestion(for: name, among: known.map { $0.text("alias") })
    throw .failure("there is no device '\(name)'; see which there are with 'wakebridge status'.\(near)")
}

/// One recording: after every line the file is a trace that only lacks its end.
private final class Recording {
    private let file: RecordingFile
    private var recorder: TraceRecorder
    private let count: Int

    init(_ devices: [JSONValue], _ options: RecordOptions) throws(Complaint) {
        count = devices.count
        let declared = devices.enumerated().compactMap { TraceDevice($1, number: $0 + 1) }
        let isUp = devices.map { $0["link"]?.string == "connected" }
        recorder = TraceRecorder(declared, isUp: isUp, start: SystemClock.wall())
        file = try RecordingFile(options.output, for: options.span)
        file.write(recorder.begin())
    }

    func record(_ line: ArraySlice<UInt8>) { file.write(recorder.record(line, at: SystemClock.wall())) }

    /// Nil once the time is over, or nothing more can be recorded.
    func pace() -> TimeSpan? { recorder.cutShort == nil ? file.pace(summary) : nil }

    /// Writes the last line of the trace, however the stream ended.
    func followed(
        _ follow: () throws(Complaint) -> ControlClient.Ending
    ) throws(Complaint) -> ControlClient.Ending {
        do { return try follow() } catch {
            file.write(recorder.end())
            try file.finish(summary)
            throw error
        }
    }

    func finish() throws(Complaint) {
        file.write(recorder.end())
        try file.finish(summary)
        if let reason = recorder.cutShort { throw .failure("the recording is not whole: \(reason)") }
    }

    private var summary: String {
        let counts = recorder.counts
        let remarks = counts.remarks > 0 ? ", \(counts.remarks.counted("remark"))" : ""
        return "\(counts.values.counted("value")), \(counts.connects.counted("connect")), "
            + "\(counts.disconnects.counted("disconnect"))\(remarks) of \(count.counted("device"))"
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
            properties: match.list("properties").map { ($0.text("name"), $0.text("value")) })
    }
}
