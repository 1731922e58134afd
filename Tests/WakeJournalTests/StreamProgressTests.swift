// How far streams of other bridges were followed, over crashes between the commits of the two databases.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

@Suite("Progress of followed streams")
final class StreamProgressTests {
    private let path: String
    private let handler = HandlerID(rawValue: 1)

    init() {
        var template = Array("/tmp/wakebridge-streams.XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["journal.sqlite", "run.sqlite"].flatMap({ [$0, $0 + "-wal", $0 + "-shm", $0 + "-turns"] }) {
            unlink("\(path)/\(name)")
        }
        unlink("\(path)/journal.number")
        rmdir(path)
    }

    private func open(boot: String = "boot") throws -> (journal: Journal, recovery: Recovery) {
        let settings = JournalSettings(runtimeDirectory: path, stateDirectory: path)
        let journal = try Journal(opening: settings, bootID: boot)
        let recovery = journal.recover()
        _ = journal.origin(of: Device(uri: "/d/1", alias: "one", profile: nil, kind: .remote))
        _ = journal.handlerID(named: "h")
        return (journal, recovery)
    }

    private func follow(
        _ number: Int, _ durability: Durability, in journal: Journal, as seq: Int? = nil, stream: String = "kitchen"
    ) {
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5))
        let event = DeviceEvent(origin: EventOrigin(rawValue: 1), kind: .data(.serial, [UInt8(number)]), stamp: stamp)
        journal.followStream(stream, to: "\(number)")
        journal.append(event, as: Sequence(UInt64(seq ?? number)), for: [handler], durability: durability)
        journal.closeStreamStep()
    }

    /// What a crash after the disk's commit and before the other's leaves: the pending numbers, and the position.
    private func crashBetweenCommits(_ journal: consuming Journal) throws -> (pending: [UInt64], position: Int) {
        _ = journal.disk.commit()
        journal.run?.database = nil
        let (next, recovery) = try open()
        let pending = recovery.pending[handler] ?? []
        return (pending.map(\.sequence.rawValue), next.position(ofStream: "kitchen").flatMap(Int.init) ?? 0)
    }

    @Test(
        "A crash between the two commits leaves the position of the last event that is there",
        arguments: [
            [Durability.disk, .disk], [.run, .disk], [.disk, .run], [.run, .run, .disk, .run, .disk, .disk, .run],
        ])
    func mixed(_ durabilities: [Durability]) throws {
        let journal = try open().journal
        for (index, durability) in durabilities.enumerated() { follow(index + 1, durability, in: journal) }
        let (pending, position) = try crashBetweenCommits(journal)
        #expect(pending == (0..<UInt64(position)).map { $0 + 1 })
    }

    @Test("Each of many streams goes on where it was, after a kill as after an orderly end", arguments: [false, true])
    func many(isClean: Bool) throws {
        var journal: Journal? = try open().journal
        for number in 1...20 {
            if let journal { follow(number, .run, in: journal, stream: "stream \(number % 3)") }
            _ = journal?.commit()
        }
        if isClean { journal?.close(clean: true) }
        journal = nil
        let next = try open().journal
        #expect((0..<3).map { next.position(ofStream: "stream \($0)") } == ["18", "19", "20"])
        #expect(next.position(ofStream: "stream 3") == nil && next.areStreamsCertain)
    }

    @Test("A position without an event is kept too, because no handler had asked for one")
    func unasked() throws {
        var journal: Journal? = try open().journal
        journal?.followStream("kitchen", to: "7")
        journal?.closeStreamStep()
        _ = journal?.commit()
        journal = nil
        #expect(try open().journal.position(ofStream: "kitchen") == "7")
    }

    @Test("A reboot leaves the disk's copy and says that it may be an older one; an orderly end leaves the last")
    func reboots() throws {
        for isClean in [false, true] {
            var journal: Journal? = try open().journal
            let next = Int(journal?.newest.seq.rawValue ?? 0) + 1
            if let journal { follow(5, .run, in: journal, as: next) }
            _ = journal?.commit()
            if isClean { journal?.close(clean: true) }
            journal = nil
            for name in ["run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "run.sqlite-turns"] {
                unlink("\(path)/\(name)")
            }
            let after = try open(boot: "another").journal
            #expect(after.areStreamsCertain == isClean)
            if isClean { #expect(after.position(ofStream: "kitchen") == "5") }
            after.close(clean: true)
        }
    }
}
