// Transfers by TLS: which certificates they trust, and that no redirect leads them out of it.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Transfers by TLS", .serialized, .timeLimit(.minutes(4)))
struct SecureTransferTests {
    private func start(_ room: TransferRoom) throws {
        try room.start()
        // Certificates are judged by the clock, and this machine may not keep it.
        #expect(try room.tool("simulate", "condition", "time-synced", "on").exit == 0)
    }

    @Test("a redirect from https to http is refused with a word: no file is there, and http is not asked for it")
    func down() throws {
        let room = try TransferRoom(isSecure: true)
        room.environment = "SSL_CERT_FILE='\(room.folder)/ca.pem'"
        try start(room)
        try room.order([
            room.download("down", "/down/1", isSecure: true), room.download("plain", "/plain/1", isSecure: true),
            room.download("up", "/up/1"),
        ])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.why("down") == "insecure-redirect" && room.file("down") == nil && room.parts.isEmpty)
        let asked = try room.asked()
        #expect(asked.contains("/down/1") && !asked.contains("/plain/down"), "\(asked)")
        #expect(try room.file("plain") == room.source("/plain/1"))
        #expect(try room.file("up") == room.source("/plain/up"))
    }

    @Test("a server that no authority of this machine vouches for is sent nothing, and the word says so")
    func unknown() throws {
        let room = try TransferRoom(isSecure: true)
        try start(room)
        try room.order([room.download("1", "/plain/1", isSecure: true)])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.why("1") == "certificate" && room.file("1") == nil && room.parts.isEmpty)
        #expect(try !room.asked().contains("/plain/1"))
    }
}
