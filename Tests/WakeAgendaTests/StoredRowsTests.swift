// Rows of every kind as version 0.30 stored them: each is restored, and stored again as it was.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Rows of version 0.30")
struct StoredRowsTests {
    /// A row that a book stores again when the wall clock was set.
    struct Anchored: Sendable, CustomTestStringConvertible {
        var source: AgendaSource
        var id: String
        var text: String

        init(_ source: AgendaSource, _ id: String, _ text: String) {
            (self.source, self.id) = (source, id)
            self.text = "{\"boot\":\"boot-1\",\"at_ns\":100000000000,\"wall_us\":\(Self.wall),\(text)}"
        }

        static let wall: Int64 = 1_780_272_000_000_000
        var testDescription: String { "\(source.rawValue) \(id)" }
        var row: AgendaRow { AgendaRow(key: AgendaKey(AgendaWorld.handler, source, id), value: Array(text.utf8)) }
        /// The same row an hour later by the wall clock, at the same instant of the boot.
        var moved: String {
            text.replacing("\"wall_us\":\(Self.wall)", with: "\"wall_us\":\(Self.wall + 3_600_000_000)")
        }
    }

    static let rowsOfBoot = [
        Anchored(
            .poll, "",
            #""base_ns":40000000000,"due_ns":1000000000000,"raised_ns":40000000000,"floor_ns":900000000000,"#
                + #""interval_ms":960000,"last":"useful","awake_ms":120,"cpu_ms":15,"hours":[[3,4,1,2,2943],[50,9,0,1,2943]],"#
                + #""since_us":1780271000000000,"history":[[1780271000000000,"every 16 min"],[1780271500000000,"raised"]]"#
        ),
        Anchored(
            .poll, "",
            #""base_ns":40000000000,"due_ns":90000000000,"raised_ns":95000000000,"never":true,"interval_ms":960000,"#
                + #""awake_ms":0,"cpu_ms":0,"hours":[],"seq":7,"relied":["power","unlocked:/srv/a"],"until":["mount:/data"],"#
                + #""handed_back":2,"returned":true,"operated":true,"since_us":1780271000000000,"history":[]"#),
        Anchored(
            .job, "backup",
            #""current":{"earliest_ns":200000000000,"deadline_ns":900000000000,"require":["power","mount:/data"],"ordered":true},"#
                + #""next":{"earliest_ns":300000000000,"deadline_ns":950000000000,"ordered":true},"#
                + #""schedule":{"period_ns":86400000000000,"nominal_ns":4000000000000,"missed":2,"counted":true},"#
                + #""until":["network"],"handed_back":1,"returned":"condition","operated":true,"failures":3,"#
                + #""since_us":1780271000000000,"history":[[1780271000000000,"submitted"]]"#),
        Anchored(
            .job, "upload",
            #""current":{"earliest_ns":20000000000,"deadline_ns":900000000000,"ordered":false},"seq":9,"slot":true,"#
                + #""relied":["unmetered"],"cancelled":true,"since_us":1780271000000000,"history":[]"#),
        Anchored(
            .inbox, "",
            #""full_ns":130000000000,"next":12,"lost":3,"lost_from_us":1780271000000000,"lost_to_us":1780271500000000,"#
                + #""since_us":1780271000000000,"history":[[1780271000000000,"message 4 came"]]"#),
        Anchored(
            .inbox, "11",
            #""message":{"payload":"hello","content_type":"text/plain","topic":"door","urgency":"high"},"#
                + #""received_us":1780271000000000,"expires_ns":9000000000000,"wakes_ns":200000000000,"collapsed":2,"#
                + #""until":["network"],"handed_back":1,"rests_ns":130000000000"#),
        Anchored(
            .inbox, "8",
            #""message":{"raw":"ff00"},"received_us":1780271000000000,"expires_ns":9000000000000,"seq":5,"#
                + #""raised_ns":90000000000,"paid":true,"collapsed_by":11"#),
        Anchored(
            .inbox, "9",
            #""message":{"payload":""},"received_us":1780271000000000,"expires_ns":9000000000000,"seq":6,"leaving":"overflow""#
        ),
        Anchored(
            .transfer, "media/a",
            #""number":1780271000000001,"url":"https://example.org/a","to":"in/a","sha256":"00ff","expect_received":7,"#
                + #""earliest_ns":200000000000,"deadline_ns":800000000000,"give_up_ns":9000000000000,"discretionary":true,"#
                + #""paused":true,"since_us":1780271000000000,"until":["network"],"handed_back":1,"#
                + #""retry":{"why":"no route","at_ns":400000000000,"since_us":1780271000000000},"#
                + #""history":[[1780271000000000,"ordered"]]"#),
        Anchored(
            .transfer, "media/b",
            #""number":1780271000000002,"url":"http://example.org/b","from":"out/b","method":"POST","expect_sent":9,"#
                + #""earliest_ns":20000000000,"give_up_ns":9000000000000,"since_us":1780271000000000,"moving":true,"#
                + #""challenge":{"realm":"shelf","until_ns":3000000000000,"told":true},"seq":21,"telling":"challenge","history":[]"#
        ),
        Anchored(
            .transfer, "media/c",
            #""number":1780271000000003,"url":"http://example.org/c","to":"in/c","earliest_ns":20000000000,"#
                + #""give_up_ns":9000000000000,"since_us":1780271000000000,"#
                + #""ended":{"ok":false,"why":"status","status":404,"sent":0,"received":3},"seq":22,"telling":"finished","history":[]"#
        ),
    ]

    @Test("a row with times of its boot is restored, and stored as it was when the clock is set", arguments: rowsOfBoot)
    func anchored(_ stored: Anchored) throws {
        var agenda = Agenda(seed: 7)
        let stamp = Self.stamp(Anchored.wall)
        let restored = agenda.step(.restored([stored.row], bootID: "boot-1"), at: stamp)
        #expect(!restored.contains(.erase(stored.row.key)), "\(restored)")
        let effects = agenda.step(.clockChanged, at: Self.stamp(Anchored.wall + 3_600_000_000))
        let again = try #require(Self.rows(effects).last { $0.key == stored.row.key })
        #expect(String(decoding: again.value, as: UTF8.self) == stored.moved)
    }

    @Test("a row without a true clock says so again, and each of its times moves once the clock is true")
    func assumed() throws {
        let text =
            #"{"boot":"boot-0","at_ns":100000000000,"wall_us":\#(Anchored.wall),"assumed":true,"#
            + #""current":{"earliest_ns":130000000000,"deadline_ns":190000000000,"ordered":true,"assumed":true},"#
            + #""schedule":{"period_ns":86400000000000,"nominal_ns":200000000000,"assumed":true},"since_us":1780271000000000,"history":[]}"#
        let row = AgendaRow(key: AgendaKey(AgendaWorld.handler, .job, "backup"), value: Array(text.utf8))
        var agenda = Agenda(seed: 7)
        let unsure = Self.rows(
            agenda.step(.restored([row], bootID: "boot-1"), at: Self.stamp(Anchored.wall, isSynchronized: false)))
        let first = try #require(unsure.last { $0.key == row.key })
        #expect(
            String(decoding: first.value, as: UTF8.self)
                == #"{"boot":"boot-1","at_ns":100000000000,"wall_us":\#(Anchored.wall + 100_000_000),"assumed":true,"#
                + #""current":{"earliest_ns":30000000000,"deadline_ns":90000000000,"ordered":true,"assumed":true},"#
                + #""schedule":{"period_ns":86400000000000,"nominal_ns":100000000000,"assumed":true},"since_us":1780271000000000,"history":[]}"#
        )
        // The machine was off for an hour in truth.
        let sure = Self.rows(agenda.step(.clockChanged, at: Self.stamp(Anchored.wall + 3_700_000_000)))
        let second = try #require(sure.last { $0.key == row.key })
        #expect(
            String(decoding: second.value, as: UTF8.self)
                == #"{"boot":"boot-1","at_ns":100000000000,"wall_us":\#(Anchored.wall + 3_700_000_000),"#
                + #""current":{"earliest_ns":-3570000000000,"deadline_ns":-3510000000000,"ordered":true},"#
                + #""schedule":{"period_ns":86400000000000,"nominal_ns":-3500000000000},"since_us":1780271000000000,"history":[]}"#
        )
    }

    @Test("a region's row keeps what its handler knows, and the event on its way")
    func region() throws {
        let (known, onTheWay) = (AgendaKey(AgendaWorld.handler, .region, "home"), Sequence(7))
        let beacon = "ibeacon f7826da6-4fa2-4e98-8024-bc5b71e0893e * *"
        let text = #"{"boot":"boot-0","beacon":"\#(beacon)","told":"inside","former":"outside","seq":7}"#
        var agenda = Agenda(seed: 7)
        _ = agenda.step(
            .restored([AgendaRow(key: known, value: Array(text.utf8))], bootID: "boot-1"), at: Self.stamp(Anchored.wall)
        )
        let plan = try AgendaPlan.parsed(
            "{regions: [{id: 'home', beacon: {ibeacon: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e'}}]}")
        _ = agenda.step(.configured(AgendaWorld.handler, plan), at: Self.stamp(Anchored.wall))
        let rows = Self.rows(
            agenda.step(
                .concluded(AgendaWorld.handler, onTheWay, .dropped, awake: .zero, cpu: .zero),
                at: Self.stamp(Anchored.wall)))
        #expect(rows.map(\.text) == [#"{"boot":"boot-1","beacon":"\#(beacon)","told":"outside"}"#])
    }

    @Test("a session's row keeps its counts and its event, and a limiter's row its delay")
    func session() throws {
        let session = AgendaKey(AgendaWorld.handler, .transfer, "media")
        let limiter = AgendaKey(AgendaWorld.handler, .transfer, "")
        let told =
            #"{"boot":"boot-1","tally":{"finished":1,"failed":2},"told":{"finished":3,"failed":0},"seq":23,"until":["network"]}"#
        let delay = #"{"boot":"boot-1","delay_ns":60000000000,"woken_ns":40000000000}"#
        var agenda = Agenda(seed: 7)
        let stored = [(session, told), (limiter, delay)].map { AgendaRow(key: $0, value: Array($1.utf8)) }
        _ = agenda.step(.restored(stored, bootID: "boot-1"), at: Self.stamp(Anchored.wall))
        #expect(agenda.transfers.raised(for: AgendaWorld.handler) == [Sequence(23)])
        let rows = Self.rows(
            agenda.step(
                .concluded(AgendaWorld.handler, Sequence(23), .dropped, awake: .zero, cpu: .zero),
                at: Self.stamp(Anchored.wall)))
        #expect(
            rows.map(\.text) == [
                #"{"boot":"boot-1","tally":{"finished":4,"failed":2},"told":{"finished":0,"failed":0},"until":["network"]}"#
            ])
        #expect(agenda.transfers.limiters[AgendaWorld.handler]?.delay == .seconds(60))
        #expect(agenda.transfers.limiters[AgendaWorld.handler]?.wokenAt == .seconds(40))
    }

    @Test("a socket's row keeps its period, and that it was open")
    func socket() throws {
        let key = AgendaKey(AgendaWorld.handler, .socket, "sip")
        let text =
            #"{"boot":"boot-1","address":"connect tcp:127.0.0.1:5060","open":true,"every_ns":900000000000,"heard_ns":40000000000}"#
        var agenda = Agenda(seed: 7)
        _ = agenda.step(
            .restored([AgendaRow(key: key, value: Array(text.utf8))], bootID: "boot-1"), at: Self.stamp(Anchored.wall))
        let plan = try AgendaPlan.parsed("{sockets: [{name: 'sip', connect: 'tcp:127.0.0.1:5060'}]}")
        _ = agenda.step(.configured(AgendaWorld.handler, plan), at: Self.stamp(Anchored.wall))
        let entry = try #require(agenda.sockets.entries[key])
        #expect(entry.isMissed && entry.keepalive.period == .seconds(900) && entry.keepalive.heardAt == .seconds(40))
        let rows = Self.rows(agenda.step(.situated(AgendaWorld.handler, .stopped), at: Self.stamp(Anchored.wall)))
        #expect(
            rows.map(\.text) == [
                #"{"boot":"boot-1","address":"connect tcp:127.0.0.1:5060","open":false,"every_ns":900000000000}"#
            ])
    }

    @Test("rows of alarms and of their clock are restored, with the occurrence on its way and the one handed back")
    func alarms() throws {
        let clock =
            #"{"boot":"boot-1","offset":1780271900000000000,"synced":true,"furthest":1780272000000000,"seen":100000000000}"#
        let daily =
            #"{"rule":{"id":"daily","daily":["07:00:00"],"days":["mon"],"catch_up":"skip","leeway":"5m","wake":false,"data":{"a":1}},"#
            + #""declared":true,"missed":2,"accounted":1780271000000000,"run":{"due":1780270000000000,"missed":1,"seq":31},"#
            + #""since":1780271000000000,"seen":100000000000,"history":[[1780271000000000,"raised",1,1780270000000000]]}"#
        let every =
            #"{"rule":{"id":"every","every":"1h","data":null},"due":3600000000000,"boot":"boot-1","#
            + #""run":{"due":1780270000000000,"missed":0,"until":["network"]},"since":1780271000000000,"seen":100000000000,"history":[]}"#
        let stored = [("", clock), ("daily", daily), ("every", every)].map {
            AgendaRow(key: AgendaKey(AgendaWorld.handler, .alarm, $0), value: Array($1.utf8))
        }
        var agenda = Agenda(seed: 7)
        let effects = agenda.step(.restored(stored, bootID: "boot-1"), at: Self.stamp(Anchored.wall))
        #expect(!effects.contains { if case .erase = $0 { true } else { false } }, "\(effects)")
        #expect(agenda.alarms.raised(for: AgendaWorld.handler) == [Sequence(31)])
        let entries = agenda.alarms.entries
        #expect(entries[stored[1].key].map { $0.row(of: stored[1].key, seen: .seconds(100)).text } == daily)
        #expect(entries[stored[2].key].map { $0.row(of: stored[2].key, seen: .seconds(100)).text } == every)
    }

    @Test("a gate's row of this boot leaves the gate open")
    func gate() throws {
        let row = AgendaRow(
            key: AgendaKey(AgendaWorld.handler, .gate, ""),
            value: Array(#"{"boot":"boot-1","gates":["network","mount:/data"]}"#.utf8))
        var agenda = Agenda(seed: 7)
        _ = agenda.step(.restored([row], bootID: "boot-1"), at: Self.stamp(Anchored.wall))
        let plan = try AgendaPlan.parsed("{after: ['mount:/data']}")
        let effects = agenda.step(.configured(AgendaWorld.handler, plan), at: Self.stamp(Anchored.wall))
        #expect(effects.contains(.gate(AgendaWorld.handler, isOpen: true)))
    }

    private static func stamp(_ wall: Int64, isSynchronized: Bool = true) -> Stamp {
        Stamp(
            moment: Moment(monotonic: .seconds(100), boottime: .seconds(100)), wall: WallTime(microseconds: wall),
            isClockSynchronized: isSynchronized)
    }

    private static func rows(_ effects: [AgendaEffect]) -> [AgendaRow] {
        effects.compactMap { if case .store(let row) = $0 { row } else { nil } }.filter { $0.key.source != .seen }
    }
}

extension AgendaRow {
    fileprivate var text: String { String(decoding: value, as: UTF8.self) }
}
