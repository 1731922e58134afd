// The trace that docs/reference/trace.md shows, read as any other.
import TestBench
import Testing
import WakeTrace

@Suite("The page of the trace format")
struct TracePageTests {
    @Test("the trace that the page shows is read, with each of its operations")
    func shown() throws {
        let block = try #require(try Document("docs/reference/trace.md").block("", with: "wakebridge-trace 1"))
        var rest = Array((block.text + "\n").utf8)
        var reader = TraceReader(supplyingChunks: {
            defer { rest = [] }
            return rest.isEmpty ? nil : rest
        })
        #expect(try reader.header().devices.count == 2)
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(count == block.lines.count { $0.hasPrefix("+") })
    }
}
