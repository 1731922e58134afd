// Parts of traces: each is a trace itself, begins with what is so there, and two of them make up the whole.
import TestBench
import Testing
import WakeModel
import WakeTrace
import WakeTraceEditing

private let day = """
    wakebridge-trace 1
    clock 2026-11-21T07:00:00.000000Z zone=Europe/Berlin seed=7
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
    device 4 accessory 2341:0043:7583 alias="meter"
    +0.000000 machine condition power on
    +0.000000 handler hr manifest {"autostart":true}
    +0.000000 1 connect
    +1.000000 4 connect
    +1.000000 machine condition power off
    +1.000000 handler hr attach
    +1.000000 1 disconnect reason=timeout
    +6.000000 4 data serial 41
    +0.000000 machine sleep 3600.000000
    +1.000000 1 connect
    +1.000000 1 data 2a37 0048
    +0.000000 4 data serial 42
    end

    """

private func reader(_ text: String) -> TraceReader { TraceReader(bytes: Array(text.utf8)) }

private func text(_ cut: TraceCut) throws -> String {
    var cut = cut
    var bytes: [UInt8] = []
    var writer = TraceWriter(header: cut.header)
    writer.writeHeader(to: &bytes)
    while let operation = try cut.next() { writer.write(operation, to: &bytes) }
    writer.writeEnd(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}

@Suite("Parts of traces")
struct TraceCutTests {
    @Test("a part begins with the links, the conditions and the manifests that were so, at the time that it was")
    func standing() throws {
        let cut = try text(TraceCut(reader(day), from: .elapsed(.seconds(5))))
        #expect(
            cut == """
                wakebridge-trace 1
                clock 2026-11-21T07:00:05.000000Z zone=Europe/Berlin seed=7
                device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
                device 4 accessory 2341:0043:7583 alias="meter"
                +0.000000 machine condition power off
                +0.000000 handler hr manifest {"autostart":true}
                +0.000000 handler hr attach
                +0.000000 4 connect
                +5.000000 4 data serial 41
                +0.000000 machine sleep 3600.000000
                +1.000000 1 connect
                +1.000000 1 data 2a37 0048
                +0.000000 4 data serial 42
                end

                """)
    }

    @Test("a time within a sleep is at its end, and a time of the wall clock is found after it")
    func sleep() throws {
        let whole = "2026-11-21T08:00:10.000000Z"
        for mark in [TraceMark.elapsed(.seconds(1_000)), .wall(WallTime(microseconds: 1_795_246_900_000_000))] {
            let cut = try TraceCut(reader(day), from: mark)
            #expect(cut.header.start.rfc3339 == whole)
            #expect(try text(cut).contains("+0.000000 4 connect\n+1.000000 1 connect\n"))
        }
    }

    @Test("what is cut at one time is the whole again, from the first part to the second, wherever the time lies")
    func halves() throws {
        var whole: [TraceOperation] = []
        var all = reader(day)
        while let operation = try all.next() { whole.append(operation) }
        for seconds in 1...10 {
            let mark = TraceMark.elapsed(.seconds(Int64(seconds)))
            var (first, second) = (try TraceCut(reader(day), until: mark), try TraceCut(reader(day), from: mark))
            var both: [TraceOperation] = []
            while let operation = try first.next() { both.append(operation) }
            // What a part tells at its beginning stands in no line of the whole.
            while let operation = try second.next() { if operation.line > 0 { both.append(operation) } }
            #expect(both.map(\.line) == whole.map(\.line), "at \(seconds) s")
            #expect(both.map(\.subject) == whole.map(\.subject), "at \(seconds) s")
        }
    }

    @Test("of one device alone only its lines stay, with those of the machine and of handlers")
    func only() throws {
        var all = reader(day)
        let header = try all.header()
        #expect(header.places(named: "meter") == [1] && header.places(named: "2341:0043:7583") == [1])
        #expect(header.places(named: "/bluetooth/C0:F1:F2:F3:F4:01") == [0])
        #expect(header.places(named: "c0:f1:f2:f3:f4:01") == [0] && header.places(named: "scale") == [])
        let cut = try text(TraceCut(reader(day), only: [1]))
        let lines = cut.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("device ") }.count == 1 && !cut.contains(" 1 "))
        #expect(lines.filter { $0.contains(" 4 ") }.count == 4)
        #expect(cut.contains("machine sleep") && cut.contains("handler hr attach"))
        var read = reader(cut)
        while try read.next() != nil {}
    }

    @Test("a cut after the end is an error that names the last line")
    func afterEnd() {
        let error = thrown(TraceError.self) { try TraceCut(reader(day), from: .elapsed(.seconds(9_999))) }
        #expect(error?.line == 16 && error?.reason.contains("ends here, before 9999s, where") == true)
    }

    @Test("a trace at another time begins then, and is the same otherwise; no year has five digits")
    func shifted() throws {
        func start(_ step: TraceShift.Step) throws -> String { try TraceShift(reader(day), step).header.start.rfc3339 }
        let back = try #require(TraceShift.Step(by: "-30s"))
        #expect(try start(back) == "2026-11-21T06:59:30.000000Z")
        #expect(try start(.by(.seconds(3_600))) == "2026-11-21T08:00:00.000000Z")
        let moon = try #require(WallTime(rfc3339: "1969-07-20T20:17:40Z"))
        #expect(try start(.to(moon)) == "1969-07-20T20:17:40.000000Z")
        #expect(TraceShift.Step(by: "+1h") == .by(.seconds(3_600)) && TraceShift.Step(by: "--1h") == nil)
        #expect(thrown(TraceError.self) { try start(.to(WallTime(microseconds: .max))) }?.line == 2)
        var (whole, shifted) = (reader(day), try TraceShift(reader(day), back))
        while let operation = try whole.next() { #expect(try shifted.next() == operation) }
        #expect(try shifted.next() == nil)
    }
}
