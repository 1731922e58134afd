// How far a trace was played, over crashes between the commits of the two databases.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

@Suite("Progress of a replay")
final class ReplayProgressTests {
    private let path: String
    private let handler = HandlerID(rawValue: 1)

    init() {
        var template = Array("/tmp/wakebridge-progress.XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["journal.sqlite", "run.sqlite"].flatMap({ [$0, $0 + "-wal", $0 + "-shm"] }) {
            unlink("\(path)/\(name)")
        }
        unlink("\(path)/journal.number")
        rmdir(path)
    }

    private func open() throws -> (journal: Journal, recovery: Recovery) {
        let settings = JournalSettings(runtimeDirectory: path, stateDirectory: path)
        let journal = try Journal(opening: settings, bootID: "boot")
        let recovery = journal.recover()
        _ = journal.origin(of: Device(uri: "/d/1", alias: "one", profile: nil, kind: .bluetoothCentral))
        _ = journal.handlerID(named: "h")
        return (journal, recovery)
    }

    private func play(_ line: Int, _ durability: Durability, in journal: Journal, source: String = "a") {
        let stamp = Stamp(
            moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5))
        let event = DeviceEvent(origin: EventOrigin(rawValue: 1), kind: .data(.serial, [UInt8(line)]), stamp: stamp)
        journal.setReplayPosition(source: source, line: line)
        journal.append(event, as: Sequence(UInt64(line)), for: [handler], durability: durability)
        journal.closeReplayStep()
    }

    /// What a crash after the disk's commit and before the other's leaves: the pending numbers, and the line to continue after.
    private func crashBetweenCommits(_ journal: consuming Journal) throws -> (pending: [UInt64], line: Int) {
        journal.replay.close(orElse: journal.disk)
        _ = journal.disk.commit()
        journal.run?.database = nil
        let recovery = try open().recovery
        let pending = recovery.pending[handler] ?? []
        return (pending.map(\.sequence.rawValue), recovery.replayPosition?.line ?? 0)
    }

    @Test("A crash between the two commits repeats no line of a disk subscription")
    func diskOnly() throws {
        let journal = try open().journal
        for line in 1...3 { play(line, .disk, in: journal) }
        let (pending, line) = try crashBetweenCommits(journal)
        #expect(pending == [1, 2, 3] && line == 3)
    }

    @Test(
        "A crash between the two commits neither loses nor repeats a line where durabilities alternate",
        arguments: [[Durability.run, .disk], [.disk, .run], [.run, .run, .disk, .run, .disk, .disk, .run]])
    func mixed(_ durabilities: [Durability]) throws {
        let journal = try open().journal
        for (index, durability) in durabilities.enumerated() { play(index + 1, durability, in: journal) }
        let (pending, line) = try crashBetweenCommits(journal)
        #expect(pending == (0..<UInt64(line)).map { $0 + 1 })
    }

    @Test("A trace played after another one begins at its first line, in whichever database their events are")
    func anotherTrace() throws {
        var journal: Journal? = try open().journal
        if let journal { for line in 1...3 { play(line, .run, in: journal) } }
        _ = journal?.commit()
        journal = nil
        journal = try open().journal
        if let journal { play(4, .disk, in: journal, source: "b") }
        _ = journal?.commit()
        journal = nil
        #expect(try open().recovery.replayPosition == Recovery.ReplayPosition(source: "b", line: 4))
    }
}
