// What is in a trace and how two differ: counted, timed, and the first difference found.
import TestBench
import Testing
import WakeModel
import WakeTrace
import WakeTraceEditing

private let trace = """
    wakebridge-trace 1
    clock 2026-11-21T07:00:00.000000Z
    device 3 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
    device 4 accessory 2341:0043:7583
    +1.000000 3 connect
    +0.500000 3 data 2a37 0048
    +0.500000 3 data 2a37 0049
    +0.000000 3 data advertisement 020106
    +8.000000 3 gap link count=3 for=1.500000
    +0.000000 3 gap link
    +0.000000 machine sleep 60.000000
    +1.000000 handler hr attach
    +0.000000 3 disconnect reason=timeout
    end

    """

private func reader(_ text: String) -> TraceReader { TraceReader(bytes: Array(text.utf8)) }

@Suite("Contents and differences of traces")
struct TraceContentsTests {
    @Test("each device's operations are counted by kind and channel, with its first and last time and what it lost")
    func counted() throws {
        let contents = try TraceContents(reading: reader(trace))
        #expect(contents.operations == 9 && contents.machineOperations == 1)
        #expect(contents.handlerOperations == ["hr": 1])
        let strap = contents.devices[0]
        #expect(
            strap.counts.map { "\($0.kind) \($0.count)" } == [
                "connect 1", "disconnect 1", "gap 2", "data 2a37 2", "data advertisement 1",
            ])
        #expect(strap.lost == 3)
        #expect(strap.first?.rfc3339 == "2026-11-21T07:00:01.000000Z")
        #expect(strap.last?.rfc3339 == "2026-11-21T07:01:11.000000Z")
        #expect(contents.devices[1].counts.isEmpty && contents.devices[1].first == nil)
    }

    @Test("a trace is as long as it took with the machine's sleep, which is no silence")
    func timed() throws {
        let contents = try TraceContents(reading: reader(trace))
        #expect(contents.first?.rfc3339 == "2026-11-21T07:00:01.000000Z")
        #expect(contents.last?.rfc3339 == "2026-11-21T07:01:11.000000Z")
        #expect(contents.length == .seconds(70) && contents.longestSilence == .seconds(8))
        let empty = try TraceContents(reading: reader("wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\nend\n"))
        #expect(empty.operations == 0 && empty.first == nil && empty.length == .zero)
    }

    @Test("a trace does not differ from itself, nor from the same with other numbers and another form")
    func same() throws {
        let other = trace.replacing("device 3 ", with: "device 9  ").replacing(" 3 ", with: " 9 ")
            .replacing("+0.500000", with: "+0.5").replacing("0048", with: "00 48")
        for text in [trace, other] {
            let difference = try TraceDifference(reader(trace), reader(text))
            #expect(difference.isEmpty && difference.counts.isEmpty, "\(difference.facts)")
        }
    }

    @Test("the first operation that differs is told with its lines, and then what each trace has more of")
    func differs() throws {
        let other = trace.replacing("+0.500000 3 data 2a37 0049\n", with: "")
        let difference = try TraceDifference(reader(trace), reader(other))
        let first = try #require(difference.first)
        #expect(first.one?.line == 7 && first.other?.line == 7)
        #expect(first.one?.words(in: difference.one.header) == "3 data 2a37 0049")
        #expect(first.other?.words(in: difference.other.header) == "3 data advertisement 020106")
        let count = try #require(difference.counts.first)
        #expect(difference.counts.count == 1 && count.kind == "data 2a37" && (count.one, count.other) == (2, 1))
        #expect(difference.facts.isEmpty)
    }

    @Test("a trace that ends earlier differs where it ends, and what headers say is told apart")
    func header() throws {
        let other = trace.replacing("+0.000000 3 disconnect reason=timeout\n", with: "")
            .replacing(" alias=\"strap\"", with: "").replacing("07:00:00.000000Z", with: "07:00:00.000000Z seed=5")
            .replacing("2341:0043:7583", with: "2341:0043:7584")
        let difference = try TraceDifference(reader(trace), reader(other))
        #expect(difference.first?.one?.line == 13)
        #expect(difference.first.map { $0.other == nil } == true)
        let names = ["seed", "/bluetooth/C0:F1:F2:F3:F4:01", "/accessory/2341:0043:7583", "/accessory/2341:0043:7584"]
        #expect(difference.facts.map(\.name) == names)
        #expect(difference.facts[0].one == "0" && difference.facts[0].other == "5")
        #expect(difference.facts[2].other == nil && difference.facts[3].one == nil)
    }

    @Test("a trace that is cut is an error of that trace")
    func damaged() {
        let fault = thrown(TraceMerge.Fault.self) { try TraceDifference(reader(trace), reader(trace + "+")) }
        #expect(fault?.trace == 1)
    }
}
