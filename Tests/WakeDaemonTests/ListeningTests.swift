// From when on a device may not have been heard, by what an earlier life of the bridge has left.
import Testing
import WakeModel
import WakeSources

@testable import WakeDaemon
@testable import WakeEngine
@testable import WakeJournal

@Suite("Listening")
struct ListeningTests {
    private func time(_ seconds: Int64) -> WallTime { WallTime(microseconds: seconds * 1_000_000) }

    @Test("a link that was up may have been dead for 32 s, but not when it was armed or spoke; a clock may be set back")
    func bounds() {
        let rows: [(known: Listening?, lastWord: Int64?, until: Int64)] = [
            (.until(time(100)), nil, 100), (.until(time(100)), 150, 100), (.until(time(2_000)), nil, 1_000),
            (.since(time(100)), nil, 968), (.since(time(100)), 900, 968), (.since(time(100)), 990, 990),
            (.since(time(980)), nil, 980), (.since(time(980)), 970, 980), (.since(time(980)), 999, 999),
            (.since(time(2_000)), nil, 1_000), (nil, nil, 968), (nil, 990, 990),
        ]
        for row in rows {
            let until = Bridge.heardUntil(row.known, row.lastWord.map(time), time(1_000), unnoticed: .seconds(32))
            #expect(until == time(row.until), "\(row)")
        }
    }

    @Test("what came by a node was read as it came, until the life ended")
    func ofAccessories() {
        let known = Listening.since(time(100))
        #expect(Bridge.heardUntil(known, nil, time(1_000), unnoticed: .zero) == time(1_000))
    }

    private func end(
        _ kind: SourceKind, at uri: String, known: Listening? = nil, lost: Recovery.Lost? = nil,
        sources: [any RegisteredSource.Type]
    ) throws -> (listening: Listening?, lost: Recovery.Lost?) {
        let journal = try Journal(
            opening: JournalSettings(runtimeDirectory: nil, stateDirectory: nil), bootID: "listening")
        _ = journal.recover(at: time(1))
        _ = journal.origin(of: Device(uri: uri, alias: "one", profile: nil, kind: kind))
        if let known { journal.record(known, of: uri) }
        var recovery = Recovery()
        recovery.lost = lost
        Bridge.endListening(in: journal, of: &recovery, time(1_000), sources)
        return (journal.listening(to: uri), recovery.lost)
    }

    @Test(
        "a peripheral whose record the disk did not have yet was heard until 32 s before the end; an accessory never was"
    )
    func withoutRecord() throws {
        let peripheral = try end(.bluetoothCentral, at: "/bluetooth/C0:00:00:00:00:01", sources: SourceRegistry.all)
        #expect(peripheral.listening == .until(time(968)))
        #expect(try end(.externalAccessory, at: "/accessory/1:2:3", sources: SourceRegistry.all).listening == nil)
    }

    @Test("where the last life lost events, one gap lasts until the start, and the gap of the link begins there")
    func afterLoss() throws {
        let lost = Recovery.Lost(first: Sequence(1), last: Sequence(4_096), from: time(990), to: time(1_200))
        let found = try end(
            .bluetoothCentral, at: "/bluetooth/C0:00:00:00:00:01", known: .since(time(100)), lost: lost,
            sources: SourceRegistry.all)
        #expect(found.listening == .until(time(1_200)))
        #expect(found.lost.map { Array($0.since.values) } == [time(968)])
    }

    @Test("a start that watches no Bluetooth counts the same 32 s as one that does")
    func withoutSource() throws {
        let known = Listening.since(time(100))
        let watched = try end(
            .bluetoothCentral, at: "/bluetooth/C0:00:00:00:00:01", known: known, sources: SourceRegistry.all)
        let unwatched = try end(.bluetoothCentral, at: "/bluetooth/C0:00:00:00:00:01", known: known, sources: [])
        #expect(watched.listening == .until(time(968)) && unwatched.listening == watched.listening)
    }
}
