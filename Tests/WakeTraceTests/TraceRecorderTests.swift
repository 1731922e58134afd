// The recorder: event lines as the daemon writes them go in, a trace that reads comes out.
import Testing
import WakeModel
import WakeTrace

private let strap = TraceDevice(
    number: 1, kind: .bluetoothCentral, address: "C0:F1:F2:F3:F4:01", alias: "strap",
    services: [BluetoothUUID(short: 0x180d)])
private let meter = TraceDevice(number: 2, kind: .externalAccessory, address: "2341:0043:7583", alias: "meter")
private let start = WallTime(microseconds: 1_795_246_966_000_000)

/// The line that the daemon's own writer makes.
private func line(_ device: TraceDevice, _ kind: DeviceEvent.Kind, at time: WallTime) -> [UInt8] {
    let known = Device(uri: device.uri, alias: device.alias ?? "", profile: "p", kind: device.kind)
    let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: time)
    let event = DeviceEvent(origin: EventOrigin(rawValue: 0), kind: kind, stamp: stamp)
    var writer = JSONWriter()
    EventLine(
        event, of: DeviceText(of: known, in: event.kind.wireName), sequence: Sequence(1), attempt: 1,
        budget: .seconds(9),
        start: EventLineStart(idPrefix: "j1-")
    )
    .write(into: &writer)
    return writer.bytes.dropLast()
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Test("What devices of either kind do is recorded as the trace it would have been, times between events kept")
func recordsEvents() throws {
    var recorder = TraceRecorder([strap, meter], isUp: [false, false], start: start)
    let heart = Channel.characteristic(BluetoothUUID(short: 0x2a37))
    let kinds: [(TraceDevice, DeviceEvent.Kind)] = [
        (strap, .connected(folded: 2)), (strap, .data(heart, [0x10, 0x49])), (meter, .connected(folded: 0)),
        (meter, .data(.serial, [])), (meter, .data(.fragment(.tooLong), [3])), (meter, .data(.report(7), [1])),
        (meter, .data(.input, [2])),
        (strap, .disconnected(reason: "0x3b", folded: 1)),
    ]
    var bytes = recorder.begin()
    for (place, entry) in kinds.enumerated() {
        let time = start + .milliseconds(250 * Int64(place + 1))
        bytes += recorder.record(line(entry.0, entry.1, at: time), at: time)
    }
    var reader = TraceReader(bytes: bytes + recorder.end(at: start))
    let header = try reader.header()
    #expect(header.start == start)
    #expect(header.devices.map(\.uri) == [strap.uri, meter.uri])
    #expect(header.devices.first?.services == strap.services)
    for (place, entry) in kinds.enumerated() {
        let operation = try #require(try reader.next())
        let device = try #require(header.devices.firstIndex { $0.uri == entry.0.uri })
        #expect(operation.subject == .device(device, entry.1))
        #expect(operation.offset == .milliseconds(250 * Int64(place + 1)))
    }
    #expect(try reader.next() == nil)
    #expect(recorder.counts.values == 5)
}

@Test("A link that is up begins the recording, and one that came up unseen is told before its first value")
func recordsLinks() {
    var recorder = TraceRecorder([strap, meter], isUp: [true, false], start: start)
    #expect(text(recorder.begin()).hasSuffix("\"meter\"\n+0.000000 1 connect\n"))
    // Broadcast without a link.
    let heard = recorder.record(line(meter, .data(.advertisement, [2]), at: start), at: start)
    #expect(text(heard) == "+0.000000 2 data advertisement 02\n")
    let added = recorder.record(line(meter, .data(.serial, [1]), at: start), at: start)
    #expect(text(added) == "+0.000000 2 connect\n+0.000000 2 data serial 01\n")
}

@Test("Gaps and attentions are comments, and so is the stream's own loss, after which the recording is not whole")
func recordsRemarks() throws {
    var recorder = TraceRecorder([strap], isUp: [true], start: start)
    var bytes = recorder.begin()
    let gap = Gap(cause: .link, count: 3, first: nil, last: nil, from: start, to: start)
    bytes += recorder.record(line(strap, .gap(gap), at: start), at: start)
    bytes += recorder.record(line(strap, .attention(.pairing, detail: "pair\nit"), at: start), at: start)
    #expect(recorder.cutShort == nil)
    bytes += recorder.record(Array(#"{"gap":{"cause":"overflow","lines":17,"message":"read faster"}}"#.utf8), at: start)
    #expect(recorder.cutShort == "read faster")
    let comments = text(bytes).split(separator: "\n").filter { $0.hasPrefix("#") }
    #expect(
        comments == [
            "# \(start.rfc3339) strap lost events: 3, cause link",
            "# \(start.rfc3339) strap wants a person: pairing: pair it", "# lost: read faster",
        ])
    var reader = TraceReader(bytes: bytes + recorder.end(at: start))
    #expect(try reader.next()?.kind == .connected(folded: 0))
    #expect(try reader.next() == nil)
}

@Test("A daemon that plays a trace of another time, or a clock that leaps, costs no data and no order")
func recordsStrangeTimes() throws {
    var recorder = TraceRecorder([strap], isUp: [true], start: start)
    let old = WallTime(microseconds: 1_000_000)
    let times = [
        old, old + .seconds(1), old, old + .milliseconds(500), WallTime(microseconds: 253_402_300_799_000_000),
    ]
    var bytes = recorder.begin()
    for time in times { bytes += recorder.record(line(strap, .data(.serial, [1]), at: time), at: start + .seconds(2)) }
    var reader = TraceReader(bytes: bytes + recorder.end(at: start))
    _ = try reader.next()
    var offsets: [TimeSpan] = []
    while let operation = try reader.next() { offsets.append(operation.offset) }
    #expect(offsets == [2000, 3000, 3000, 3500, 3500].map { .milliseconds($0) })
}

@Test("What is no event of a recorded device adds nothing")
func recordsNothingElse() {
    var recorder = TraceRecorder([strap], isUp: [true], start: start)
    _ = recorder.begin()
    for text in [
        "", "nonsense", "{}", #"{"source":"\#(strap.uri)","time":"soon","type":"wakebridge.device.data"}"#,
        #"{"source":"\#(strap.uri)","time":"2026-11-21T07:42:46Z","type":"wakebridge.device.data","data":{"raw":"1"}}"#,
    ] { #expect(recorder.record(Array(text.utf8), at: start) == []) }
    #expect(recorder.record(line(meter, .connected(folded: 0), at: start), at: start) == [])
}

// MARK: A day

private func deed(_ text: String, _ time: WallTime) throws -> [UInt8] {
    DayLine.deed(try TraceOperation.Subject(deed: text), at: time)
}

@Test(
    "A day has its header from the stream's first line, then manifests, then links that are up, and lasts until its end"
)
func recordsBeginningOfDay() throws {
    var recorder = TraceRecorder([strap], isUp: [true], start: start, of: .day)
    #expect(recorder.begin().isEmpty)
    let later = start + .seconds(2)
    var bytes = recorder.record(DayLine.greeting(zone: "Europe/Berlin", seed: .max, at: later), at: later)
    bytes += recorder.record(try deed("handler hr manifest {\"alarms\":[]}", later), at: later)
    bytes += recorder.record(try deed("machine condition power off", later + .seconds(1)), at: later)
    #expect(
        text(bytes + recorder.end(at: later + .seconds(60))) == """
            wakebridge-trace 1
            clock \(later.rfc3339) zone=Europe/Berlin seed=18446744073709551615
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0.000000 handler hr manifest {"alarms":[]}
            +1.000000 1 connect
            +0.000000 machine condition power off
            +59.000000 machine synchronized on
            end

            """)
    #expect(recorder.counts.deeds == 2)
}

@Test("What the wall clock jumped by, in a sleep or when it was set, is no time that passed for the trace")
func recordsJumps() throws {
    var recorder = TraceRecorder([strap], isUp: [false], start: start, of: .day)
    _ = recorder.record(DayLine.greeting(zone: nil, seed: 0, at: start), at: start)
    var (bytes, wall) = ([UInt8](), start)
    for (passed, text) in [
        (1, "machine clock +3600.000000"), (2, "machine sleep 28800.000000"), (3, "machine clock -7200.000000"),
        (4, "handler hr attach"),
    ] {
        let jump = [3_600, 28_800, -7_200, 0][passed - 1]
        wall = wall + .seconds(Int64(passed + jump))
        bytes += recorder.record(try deed(text, wall), at: wall)
    }
    let times = text(bytes).split(separator: "\n").compactMap { $0.split(separator: " ").first }
    #expect(times == ["+1.000000", "+2.000000", "+3.000000", "+4.000000"])
}

@Test("A daemon that begins anew greets again, and a restart stands in the trace")
func recordsRestart() throws {
    var recorder = TraceRecorder([strap], isUp: [false], start: start, of: .day)
    _ = recorder.record(DayLine.greeting(zone: nil, seed: 7, at: start), at: start)
    let again = start + .seconds(9)
    let bytes = recorder.record(DayLine.greeting(zone: nil, seed: 7, at: again), at: again)
    #expect(text(bytes) == "+9.000000 machine restart\n")
}

@Test("A day whose stream never began is a trace without a line, and what is too long for a line is a comment")
func recordsLittle() throws {
    var recorder = TraceRecorder([strap], isUp: [false], start: start, of: .day)
    var reader = TraceReader(bytes: recorder.end(at: start))
    #expect(try reader.next() == nil)
    var other = TraceRecorder([strap], isUp: [false], start: start, of: .day)
    _ = other.record(DayLine.greeting(zone: nil, seed: 7, at: start), at: start)
    let long = String(repeating: "x", count: 70_000)
    let bytes = other.record(try deed("handler hr manifest {\"alarms\":\"\(long)\"}", start), at: start)
    #expect(bytes.count < 200 && text(bytes).hasPrefix("# handler hr manifest"))
}
