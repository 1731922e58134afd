// Transfers through a daemon, `wakebridge-transferd` and a server that misbehaves, each of which may be killed at any time.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Transfers that are handed over", .serialized, .timeLimit(.minutes(4)))
struct TransferdTests {
    /// What each kind of server leaves: nil for the whole file, or the word that says why not.
    private static let kinds: [(kind: String, why: String?)] = [
        ("plain", nil), ("cut", nil), ("ignores", nil), ("shifts", nil), ("changes", nil), ("gzip", "encoded"),
        ("busy", nil), ("breaks", nil), ("circle", "redirects"), ("slow", nil), ("endless", "head"),
        ("huge", "storage"),
        ("none", "status"), ("ended", nil), ("lost", nil), ("dated", nil), ("named", nil), ("chunks", nil),
        ("lengths", nil), ("labelled", nil),
        ("outside", "redirect"), ("nowhere", "redirect"), ("moved", nil), ("accepted", "status"), ("empty", "status"),
    ]

    /// Where a server's redirect leads in the end.
    private static func place(_ kind: String) -> String { kind == "moved" ? "/plain/moved/1" : "/\(kind)/1" }

    @Test("of each kind of server a file is whole, or a word says why not; the handler is woken once, at the end")
    func eachKind() throws {
        unlink("/tmp/named")
        let room = try TransferRoom()
        try room.start()
        let before = try room.wakes()
        try room.order(Self.kinds.map { room.download($0.kind, "/\($0.kind)/1") })
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)\n\(room.told)")
        for (kind, why) in Self.kinds {
            let end = try #require(room.told("transfer.finished").first { $0.id == kind })
            #expect(end.why == why, "\(kind)")
            #expect(try room.file(kind) == (why == nil ? room.source(Self.place(kind)) : nil), "\(kind)")
        }
        #expect(!File.exists("/tmp/named"))
        #expect(try room.wakes() - before == 2, "once to order them, and once at the end")
        let failed = Int64(Self.kinds.count { $0.why != nil })
        #expect(room.told("transfer.settled").first?.data["failed"]?.integer == failed)
        let pending = try room.tool("pending", "photos")
        #expect(pending.exit == 0 && !pending.output.contains("transfer"))
    }

    @Test("a checksum that is not the file's fails it, and no file of that name is left; a right one passes")
    func checksums() throws {
        let room = try TransferRoom()
        try room.start()
        let source = try room.source("/plain/1")
        let digest = try Child(["sha256sum", "\(room.folder)/source"]).finish().output.prefix(64)
        try room.order([
            room.download("good", "/plain/1", #","sha256":"\#(digest)""#),
            room.download("bad", "/plain/1", #","sha256":"\#(String(repeating: "0", count: 64))""#),
        ])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.file("good") == source && room.file("bad") == nil)
        #expect(room.told("transfer.finished").first { $0.id == "bad" }?.why == "checksum")
    }

    @Test("a file is sent whole, again from its beginning after a refusal, and under one idempotency key")
    func uploads() throws {
        let room = try TransferRoom()
        try room.start()
        try Directory.create("\(room.folder)/state/handlers/photos", mode: 0o700)
        let source = try room.source("/plain/1")
        try File.replace("\(room.folder)/state/handlers/photos/out", with: source)
        try room.order([
            """
            {"transfer":{"session":"photos","id":"up","url":"http://127.0.0.1:\(room.ports[0])/once/up","from":"out"}}
            """,
            """
            {"transfer":{"session":"photos","id":"no","url":"http://127.0.0.1:\(room.ports[0])/once/no","from":"absent"}}
            """,
        ])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        let stored = try JSONValue(parsing: try File.bytes(at: "\(room.folder)/stored"))["/once/up"]
        #expect(stored?["length"]?.integer == Int64(source.count))
        #expect(stored?["key"]?.string?.hasPrefix("\"photos-") == true)
        #expect(room.told("transfer.finished").first { $0.id == "no" }?.why == "path")
    }

    @Test("a server that asks who is there is answered with the handler's credential, which stands in no file")
    func credential() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([room.download("1", "/secret/1")])
        try #require(Patience.wait { room.told("transfer.challenge").count == 1 }, "\(room.log)")
        #expect(room.told("transfer.challenge").first?.data["realm"]?.string == #"Basic realm="r""#)
        try room.order([#"{"credential":{"transfer":"photos/1","user":"me","password":"word"}}"#])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(try room.file("1") == room.source("/secret/1"))
    }

    @Test("ten GiB that never come, and noise in place of an answer, are tried again until a person cancels them")
    func cancelled() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([room.download("vast", "/vast/1"), room.download("noise", "/noise/1")])
        let areTriedAgain = try Patience.wait {
            try room.tool("transfers", "photos").output.split(separator: "\n").count { $0.contains("retry") } == 2
        }
        try #require(areTriedAgain, "\(room.log)")
        let status = try room.tool("status").output.split(separator: "\n")
        #expect(status.contains { $0.starts(with: "photos") && $0.contains("  2     ") }, "\(status)")
        for id in ["vast", "noise"] {
            let answer = try room.tool("transfers", "--cancel", "photos/\(id)", "photos")
            #expect(answer.output == "transfer photos/\(id) is cancelled\n" && answer.exit == 0)
        }
        #expect(try room.tool("transfers", "--cancel", "photos/vast", "photos").exit == 5)
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.told("transfer.finished").allSatisfy { $0.why == "cancelled" })
        #expect(Patience.wait { room.parts.isEmpty })
    }

    @Test("a second program of one user takes over from the first, which keeps what it has")
    func takesOver() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order((1...2).map { room.download("\($0)", "/valve/\($0)") })
        try #require(Patience.wait { room.parts.count == 2 }, "\(room.log)")
        room.stop(SIGKILL)
        let first = room.transferds
        #expect(first.count == 1)
        for name in try Directory.names(in: "\(room.folder)/run") where name.hasSuffix(".sock") {
            try File.remove("\(room.folder)/run/\(name)")
        }
        try room.start()
        let isReplaced = Patience.wait {
            let now = room.transferds
            return !now.isEmpty && first.allSatisfy { !now.contains($0) }
        }
        #expect(isReplaced, "\(room.log)")
        try room.open()
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(first.allSatisfy { !isAlive($0) })
        for id in 1...2 { #expect(try room.file("\(id)") == room.source("/valve/\(id)")) }
    }

    @Test("a file without a place or with an impossible address fails at once, and no server is asked for it")
    func hopeless() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order([
            room.download("absent/1", "/plain/placeless").replacing(#""id":"absent/1""#, with: #""id":"folder""#),
            room.download("port", "/plain/2").replacing(":\(room.ports[0])/", with: ":99999/"),
        ])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.why("folder") == "path" && room.why("port") == "address" && room.parts.isEmpty)
        #expect(try !room.asked().contains("placeless"))
    }

    @Test("a link in the state directory leads no file out of it")
    func links() throws {
        let room = try TransferRoom()
        try room.start()
        try Directory.create("\(room.folder)/state/handlers/photos", mode: 0o700)
        #expect(symlink(room.folder, "\(room.folder)/state/handlers/photos/way") == 0)
        try room.order([room.download("way/out", "/plain/1").replacing(#""id":"way/out""#, with: #""id":"1""#)])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.told("transfer.finished").first?.why == "path")
        #expect(access("\(room.folder)/out", F_OK) != 0)
    }

    @Test("where a filter of systemd's takes openat2 away, a file is received, and neither a link nor .. leads one out")
    func withoutOpenat2() throws {
        let room = try TransferRoom()
        room.wrapper = ["python3", "\(File.parent(of: #filePath))/without_openat2.py"]
        try room.start()
        let state = "\(room.folder)/state/handlers/photos"
        try Directory.create("\(state)/in", mode: 0o700)
        #expect(symlink(room.folder, "\(state)/way") == 0)
        func ordered(_ path: String, _ id: String) -> String {
            room.download(path, "/plain/1").replacing("\"id\":\"\(path)\"", with: "\"id\":\"\(id)\"")
        }
        try room.order([ordered("in/here", "1"), ordered("way/out", "2"), ordered("in/../../../../out", "3")])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(try room.file("in/here") == room.source("/plain/1"), "\(room.log)")
        #expect(room.why("2") == "path" && access("\(room.folder)/out", F_OK) != 0, "\(room.log)")
        #expect(room.log.contains("ENOSYS") == false, "\(room.log)")
    }

    @Test("while the daemon is gone a file goes on, and its end is told by the next daemon")
    func withoutDaemon() throws {
        let room = try TransferRoom()
        try room.start()
        try room.order((1...2).map { room.download("\($0)", "/valve/\($0)") })
        try #require(Patience.wait { room.parts.count == 2 }, "\(room.log)")
        let mover = room.transferds
        room.stop(SIGKILL)
        try room.open()
        try #require(Patience.wait { (1...2).allSatisfy { room.file("\($0)") != nil } })
        #expect(room.told("transfer.settled").isEmpty)
        try room.start()
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(room.told("transfer.finished").count == 2)
        #expect(mover.count == 1 && room.transferds == mover, "what the next daemon sweeps is not transferd")
    }
}

@Suite("Transfers amid kills", .serialized, .timeLimit(.minutes(5)))
struct FewKilledTransferTests {
    @Test("of twenty transfers amid ten kills each file is its source, or a word says why not")
    func killed() async throws {
        var transfers = try KilledTransfers(files: 20, seed: 28)
        try await transfers.kill(times: 10)
        try transfers.check()
    }
}
