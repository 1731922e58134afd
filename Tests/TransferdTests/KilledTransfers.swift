// Many transfers at once, while the daemon, transferd and the handler are killed by turns.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Files of every kind of server, and what is killed meanwhile.
struct KilledTransfers {
    private static let kinds = [
        "plain", "cut", "ignores", "shifts", "changes", "busy", "breaks", "slow", "gzip", "none",
    ]

    let room: TransferRoom
    private let all: [(id: String, path: String)]
    private var dice: Dice

    init(files: Int, seed: UInt64) throws {
        let room = try TransferRoom()
        (self.room, dice) = (room, Dice(seed))
        let most = (1..<files).map { (id: "\($0)", path: "/\(Self.kinds[$0 % Self.kinds.count])/\($0)") }
        // One comes byte by byte until the kills are over, so that none of them falls behind the end.
        all = most + [(id: "\(files)", path: "/gate/\(files)")]
        try room.start()
        try room.order(all.map { room.download($0.id, $0.path) })
        // One that dies amid its orders would order the first of them again.
        let isOrdered = try Patience.wait { try room.tool("transfers").output.contains("photos/\(files)") }
        try #require(isOrdered, "\(room.log)")
    }

    mutating func kill(times: Int) async throws {
        let begun = SystemClock.monotonic()
        for _ in 1...times {
            try await RealTime.pass(Double(dice.below(300) + 20) / 1_000)
            try kill(dice.below(10), in: room)
        }
        #expect(room.told("transfer.settled").isEmpty)
        let span = SystemClock.monotonic() - begun
        print("killed \(times) times amid \(all.count) transfers, in \(span.wholeMilliseconds) ms")
        try room.open()
    }

    private func kill(_ roll: Int, in room: TransferRoom) throws {
        switch roll {
        case 0...1:
            room.stop(SIGKILL)
            try room.start()
        case 2...6: room.killTransferd()
        default:
            for process in processes(mentioning: "\(room.folder)/handler.py") { Glibc.kill(process, SIGKILL) }
        }
    }

    /// Each file is its source, or a word says why not; no part is left, and the session has settled once.
    func check() throws {
        try #require(
            Patience.wait(.seconds(180)) { !room.told("transfer.settled").isEmpty }, "\(room.log.suffix(3_000))")
        let (told, sources) = (room.told("transfer.finished"), try room.sources(all.map(\.path)))
        for ((id, path), source) in zip(all, sources) {
            let why = try #require(told.last { $0.id == id }, "\(id) has no end").why
            let wanted = path.hasPrefix("/gzip") ? "encoded" : path.hasPrefix("/none") ? "status" : nil
            #expect(why == wanted, "\(path)")
            #expect(room.file(id) == (why == nil ? source : nil), "\(path)")
        }
        #expect(Patience.wait { room.parts.isEmpty }, "\(room.parts)")
        #expect(Set(room.told("transfer.settled").map(\.sequence)).count == 1)
    }
}
