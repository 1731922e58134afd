// A hundred transfers that wait, and eight silent sockets: they wake nothing.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Transfers that wait, and silent sockets", .serialized, .tags(.measures, .fullScale), .timeLimit(.minutes(4)),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct WaitingTransferTests {
    @Test(
        "a hundred transfers that wait for a network and for tomorrow, and eight open sockets of a frozen handler, wake the daemon not once in a minute"
    )
    func sleeps() async throws {
        let room = try TransferRoom(
            TransferRoom.manifest.replacing("discretionary: false, require: []", with: "require: [\"network\"]"))
        let peer = try NetworkSocket.listen(at: .anyPort)
        try holdSockets(in: room, at: try #require(NetworkSocket.ownEnd(of: peer.raw)?.port))
        try room.start()
        #expect(try room.tool("simulate", "condition", "network", "off").exit == 0)
        try room.order(
            (1...100).map { room.download("\($0)", "/plain/\($0)", $0 % 2 == 0 ? "" : ",\"not_before_s\":86400") })
        let areOrdered = try Patience.wait { try room.tool("transfers").output.contains("photos/100") }
        try #require(areOrdered, "\(room.log)")
        let areOpen = Patience.wait {
            lines(of: "\(room.folder)/heard").count { $0.contains("socket.opened") } == 8
        }
        try #require(areOpen, "\(room.log) \(text(of: "\(room.folder)/heard"))")
        // It starts later, and so looks more often for a program that keeps the clock, where none does.
        let idle = try TransferRoom()
        try idle.start()
        try await RealTime.pass(8)
        let faults = room.majorFaults
        var (count, quiet) = try await minute(of: room, idle)
        // A page that the kernel had dropped makes its reader wait, which counts as a wake-up.
        if !isAsleep(count, quiet), room.majorFaults > faults { (count, quiet) = try await minute(of: room, idle) }
        print(
            "in 60 s a daemon with 100 transfers that wait and 8 silent sockets wakes \(count) times, one without \(quiet)"
        )
        #expect(isAsleep(count, quiet), "\(room.log)")
        #expect(room.transferds.isEmpty)
    }

    private func minute(of room: TransferRoom, _ idle: TransferRoom) async throws -> (count: Int, quiet: Int) {
        let before = (room.wakeUps, idle.wakeUps)
        try await RealTime.pass(60)
        return (room.wakeUps - before.0, idle.wakeUps - before.1)
    }

    private func isAsleep(_ count: Int, _ quiet: Int) -> Bool { quiet == 0 ? count == 0 : count <= quiet + 1 }

    private func holdSockets(in room: TransferRoom, at port: UInt16) throws {
        let outgoing = (0..<4).map { "{ name: \"out\($0)\", connect: \"tcp:127.0.0.1:\(port)\", keepalive: \"10m\" }" }
        let incoming = (0..<4).map { "{ name: \"in\($0)\", listen: \"unix:\(room.folder)/in\($0)\" }" }
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        put(
            """
            { exec: ["\(Built.fixture)", "--log", "\(room.folder)/heard"], \(user)
              sockets: [\((outgoing + incoming).joined(separator: ", "))] }
            """, at: "\(room.folder)/config/handlers.d/quiet.json5")
    }
}
