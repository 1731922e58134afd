// When reports may have been dropped by the kernel, which never says so.
import Testing
import WakeModel

@testable import WakeSources
@testable import WakeSystem

@Suite("Backlog of reports")
struct ReportBacklogTests {
    private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("as many as the kernel keeps, found in one go, may be all or not: the time since nothing waited is in doubt")
    func doubts() {
        var backlog = ReportBacklog(emptyAt: time(0))
        for _ in 1...62 { #expect(backlog.recordRead(at: time(100)) == nil) }
        #expect(backlog.recordRead(at: time(100)) == .loss(from: time(0), to: time(100)))
        for _ in 1...62 { #expect(backlog.recordRead(at: time(150)) == nil) }
        #expect(
            backlog.recordRead(at: time(150)) == .loss(from: time(100), to: time(150)), "no instant is in two of them")
    }

    @Test("one less, and nothing was lost, however often that happens")
    func trusts() {
        var backlog = ReportBacklog(emptyAt: time(0))
        for round in 1...10 {
            for _ in 1...62 { #expect(backlog.recordRead(at: time(Int64(round) * 60)) == nil) }
            backlog.end(at: time(Int64(round) * 60))
        }
    }

    @Test("kept from its processor amid the reads, what is dropped meanwhile lies in the gap too, whenever that was")
    func pauses() throws {
        // The node's own clock: a report each millisecond, of which it keeps 63. One read takes 10 us, some far longer.
        for pause in 0...200 {
            var node = BusyNode(pausingAt: pause)
            var backlog = ReportBacklog(emptyAt: .zero)
            var words: [(word: NodeWord, at: Instant)] = []
            var isThere = true
            for _ in 1...3 where isThere {
                node.wait(for: .milliseconds(40))
                isThere = try backlog.drain(into: &words, { node.now }, reading: { node.read() }) != .gone
            }
            let losses = words.compactMap { one in
                if case .loss(let from, let to) = one.word { (from, to) } else { nil as (Instant, Instant)? }
            }
            for drop in node.dropped {
                #expect(losses.contains { $0.0 <= drop && drop <= $0.1 }, "\(pause): \(drop) in none of \(losses)")
            }
            #expect(words.count - losses.count == node.given)
            #expect(zip(words, words.dropFirst()).allSatisfy { $0.at <= $1.at })
        }
    }
}

/// A node of a device that sends each millisecond, for a reader that is kept from its processor for 150 ms at one of its reads.
private struct BusyNode {
    private(set) var now = Instant.zero
    private(set) var given = 0
    private(set) var dropped: [Instant] = []
    private var waiting = 0
    private var sent: Int64 = 0
    private var reads = 0
    private let pause: Int

    init(pausingAt pause: Int) { self.pause = pause }

    mutating func wait(for span: TimeSpan) {
        let end = now + span
        while .zero + .milliseconds(sent + 1) <= end {
            sent += 1
            if waiting < 63 { waiting += 1 } else { dropped.append(.zero + .milliseconds(sent)) }
        }
        now = end
    }

    mutating func read() -> NodeReading<HidReport> {
        reads += 1
        wait(for: reads == pause ? .milliseconds(150) : .microseconds(10))
        guard waiting > 0 else { return .wouldBlock }
        waiting -= 1
        given += 1
        return .content(HidReport(number: 0, bytes: [1]))
    }
}
