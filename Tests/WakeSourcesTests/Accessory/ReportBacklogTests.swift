// When reports may have been dropped by the kernel, which never says so.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Backlog of reports")
struct ReportBacklogTests {
    private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("as many as the kernel keeps, found in one go, may be all or not: the time since nothing waited is in doubt")
    func doubts() {
        var backlog = ReportBacklog(emptyAt: time(0))
        for _ in 1...62 { #expect(backlog.take(at: time(100)) == nil) }
        #expect(backlog.take(at: time(100)) == .loss(from: time(0), to: time(100)))
        for _ in 1...62 { #expect(backlog.take(at: time(150)) == nil) }
        #expect(backlog.take(at: time(150)) == .loss(from: time(100), to: time(150)), "no instant is in two of them")
    }

    @Test("one less, and nothing was lost, however often that happens")
    func trusts() {
        var backlog = ReportBacklog(emptyAt: time(0))
        for round in 1...10 {
            for _ in 1...62 { #expect(backlog.take(at: time(Int64(round) * 60)) == nil) }
            backlog.end(at: time(Int64(round) * 60))
        }
    }
}
