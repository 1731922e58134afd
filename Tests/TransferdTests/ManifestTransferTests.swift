// Transfers beside manifests that run once for each device, and that break, change and go.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Transfers and their manifests", .serialized, .timeLimit(.minutes(4)))
struct ManifestTransferTests {
    private static let watch = #"modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor" }]"#
    private static let manifest = TransferRoom.manifest.replacing(
        "USER", with: "USER instance: \"device\", \(watch),")

    private func write(_ text: [UInt8], in room: TransferRoom) throws {
        try File.replace("\(room.folder)/config/handlers.d/photos.json5", with: text)
    }

    private func attach(_ alias: String, in room: TransferRoom) throws {
        let trace = """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="\(alias)" service=180d
            +0 1 connect
            end

            """
        try File.replace("\(room.folder)/strap.trace", with: Array(trace.utf8))
        room.words = ["--replay", "\(room.folder)/strap.trace"]
    }

    @Test("the handler of one device has its file in its own directory, though the device is renamed meanwhile")
    func instance() throws {
        let room = try TransferRoom(Self.manifest)
        try attach("left", in: room)
        try room.start()
        let isThere = try Patience.wait { try room.tool("handlers").output.contains("photos@left") }
        try #require(isThere, "\(room.log)")
        try room.order([room.download("1", "/valve/1")], of: "photos@left")
        let place = "\(room.folder)/state/handlers/photos@bluetooth_C0=F1=F2=F3=F4=01"
        try #require(Patience.wait { names(in: place + "/.transfers").contains { $0.hasSuffix(".part") } })
        room.stop(SIGKILL)
        try attach("wrist", in: room)
        try room.start()
        try room.open()
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)\n\(room.told)")
        #expect(room.why("1") == nil)
        #expect(try File.bytes(at: place + "/1") == room.source("/valve/1"))
        #expect(try room.tool("handlers").output.contains("photos@wrist"))
    }

    @Test("a manifest that is broken when the daemon starts loses no part, and its file goes on when it is mended")
    func broken() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([room.download("1", "/valve/1")])
        try #require(Patience.wait { room.parts.count == 1 }, "\(room.log)")
        room.stop(SIGKILL)
        let manifest = try File.bytes(at: "\(room.folder)/config/handlers.d/photos.json5")
        try write(Array("{".utf8), in: room)
        try room.start()
        #expect(Patience.wait { room.transferds.isEmpty }, "no manifest says which user it may run as")
        #expect(room.parts.count == 1)
        try room.open()
        try write(manifest, in: room)
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(try room.file("1") == room.source("/valve/1"))
    }

    @Test("what is cancelled after its program was killed leaves no part, though nothing else is ordered")
    func cancelledLater() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([room.download("1", "/valve/1")])
        try #require(Patience.wait { room.parts.count == 1 }, "\(room.log)")
        room.killTransferd()
        #expect(try room.tool("transfers", "--cancel", "photos/1", "photos").exit == 0)
        let folder = "\(room.folder)/state/handlers/photos/.transfers"
        #expect(Patience.wait { names(in: folder).isEmpty }, "\(names(in: folder)) \(room.log)")
    }

    @Test("what is cancelled while its program dies leaves no part either")
    func cancelledAmidDeath() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([room.download("1", "/valve/1")])
        try #require(Patience.wait { room.parts.count == 1 }, "\(room.log)")
        try #require(room.transferds.count == 1)
        // It is sent the word, and never reads it.
        for process in room.transferds { kill(process, SIGSTOP) }
        #expect(try room.tool("transfers", "--cancel", "photos/1", "photos").exit == 0)
        room.killTransferd()
        let folder = "\(room.folder)/state/handlers/photos/.transfers"
        #expect(Patience.wait { names(in: folder).isEmpty }, "\(names(in: folder)) \(room.log)")
    }
}
