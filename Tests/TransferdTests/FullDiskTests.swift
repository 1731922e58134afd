// Transfers whose disk is full, or is filled by them.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Transfers to a disk that is full", .serialized, .enabled(if: Machine.isRoot, "only root may mount a disk"),
    .timeLimit(.minutes(5)))
struct FullDiskTests {
    /// A little more than is left free whatever comes.
    private static let size = "112m"

    @Test("a body without end is stopped while there is room for others, and leaves nothing of itself")
    func flood() throws {
        let room = try TransferRoom()
        try room.start()
        try room.mountState(Self.size)
        try room.order([room.download("1", "/flood/1")])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.why("1") == "storage" && room.file("1") == nil && room.parts.isEmpty)
    }

    @Test("a transfer that finds the disk full keeps what it has, and is whole once others have left it")
    func full() throws {
        let room = try TransferRoom()
        try room.start()
        try room.mountState(Self.size)
        let source = try room.source("/valve/1")
        try room.order([room.download("1", "/valve/1")])
        try #require(Patience.wait { room.partBytes >= source.count / 2 }, "\(room.log)")
        let filler = "\(room.folder)/state/handlers/photos/filler"
        let filling = try Child(["dd", "if=/dev/zero", "of=\(filler)", "bs=64k"]).finish()
        #expect(filling.exit == 1 && filling.talk.contains("No space left"), "\(filling)")
        try room.open()
        let isTriedAgain = try Patience.wait {
            try room.tool("transfers", "photos").output.contains("retry")
        }
        try #require(isTriedAgain, "\(room.log)")
        #expect(room.told("transfer.finished").isEmpty && room.file("1") == nil && room.parts.count == 1)

        try File.remove(filler)
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.told("transfer.finished").count == 1 && room.why("1") == nil && room.file("1") == source)
    }
}
