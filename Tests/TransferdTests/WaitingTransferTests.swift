// Transfers that wait: they wake nothing.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Transfers that wait", .serialized, .tags(.measures), .timeLimit(.minutes(4)))
struct WaitingTransferTests {
    @Test("a hundred transfers that wait for a network and for tomorrow wake the daemon not once in a minute")
    func sleeps() throws {
        let room = try TransferRoom(
            TransferRoom.manifest.replacing("discretionary: false, require: []", with: "require: [\"network\"]"))
        try room.start()
        #expect(try room.tool("simulate", "condition", "network", "off").exit == 0)
        try room.order(
            (1...100).map { room.download("\($0)", "/plain/\($0)", $0 % 2 == 0 ? "" : ",\"not_before_s\":86400") })
        let areOrdered = try TransferRoom.wait(20) { try room.tool("transfers").output.contains("photos/100") }
        try #require(areOrdered, "\(room.log)")
        usleep(8_000_000)
        let before = room.wakeUps
        usleep(60_000_000)
        let count = room.wakeUps - before
        print("in 60 s a daemon with 100 transfers that wait wakes \(count) times")
        // Where no program keeps the clock, that is looked for.
        #expect(count == 0 || (!SystemClock.isSynchronized && count <= 1), "\(room.log)")
        #expect(room.transferds.isEmpty)
    }
}
