// Two hundred transfers, while the daemon, transferd and the handler are killed a hundred times.
import Testing

@Suite("200 transfers amid kills", .serialized, .tags(.fullScale), .timeLimit(.minutes(10)))
struct KilledTransferTests {
    @Test(
        "with daemon, transferd and handler killed at random points each file is its source, or a word says why not; no part is left, and its session settles once"
    )
    func killed() async throws {
        var transfers = try KilledTransfers(files: 200, seed: 28)
        try await transfers.kill(times: 100)
        try transfers.check()
    }
}
