// A kind of event that lives in the tests alone: its manifest, its rows over a reboot, and its recorded day.
import TestBench
import Testing
import TickTrigger
import WakeAPI
import WakeJournal
import WakeModel
import WakeProfiles
import WakeTrace

@testable import WakeAgenda
@testable import WakeEngine

@Suite("A new kind of event")
struct TickTriggerTests {
    private let handler = HandlerID(rawValue: 1)
    private let key: AgendaKey
    private let start = WallTime(microseconds: 1_700_000_000_000_000)

    init() {
        Agenda.register(TickBook.self)
        key = AgendaKey(handler, AgendaSource(TickBook.kind), "")
    }

    private func manifest(_ tick: String) throws -> HandlerManifest {
        let text = Array("{ exec: [\"/bin/true\"], user: \"auto\", tick: \(tick) }".utf8)
        return try HandlerManifest(id: "t", file: "t.json5", text: text, isRoot: true)
    }

    private func stamp(_ seconds: Int64, of boot: Int64 = 0) -> Stamp {
        let instant = Instant.zero + .seconds(seconds)
        return Stamp(moment: Moment(monotonic: instant, boottime: instant), wall: start + .seconds(boot + seconds))
    }

    @Test("a manifest declares it by its own key, which alone is a reason to run, and each fault of it is named")
    func manifests() throws {
        #expect(try manifest("{ every: \"5m\" }").agenda.registered["tick"] != nil)
        let faults = [
            ("{}", "\"tick\" lacks \"every\""), ("{ every: 5 }", "\"every\" of \"tick\" must be a duration"),
            ("{ evry: \"5m\" }", "\"evry\" is no key of \"tick\""),
        ]
        for (text, sentence) in faults {
            let error = #expect(throws: ConfigurationErrors.self) { try manifest(text) }
            #expect(error?.description.contains(sentence) ?? false, "\(error?.description ?? "")")
        }
    }

    @Test("it is raised when it is due, is pending until then, and goes on after a reboot from its row")
    func reboot() throws {
        var agenda = Agenda(seed: 7)
        let plan = try manifest("{ every: \"5m\" }").agenda
        _ = agenda.step(.restored([], bootID: "one"), at: stamp(1))
        var effects = agenda.step(.configured(handler, plan), at: stamp(1))
        #expect(agenda.pending(of: nil, at: stamp(1)).map(\.waitsFor.first?.word) == ["time"])
        #expect(agenda.nextBoottimeDeadline == .zero + .seconds(301))
        #expect(agenda.outlook(of: handler, at: stamp(1)).count == 1)
        effects += agenda.step(.tick, at: stamp(301))
        #expect(raised(effects) == ["{\"count\":1}"])
        effects += agenda.step(.raised(key, Sequence(9)), at: stamp(301))
        effects += agenda.step(
            .concluded(handler, Sequence(9), .acknowledged(nil), awake: .zero, cpu: .zero), at: stamp(301))

        // Off for a minute, 99 s after the tick.
        let row = try #require(effects.compactMap { if case .store(let row) = $0 { row } else { nil } }.last)
        var next = Agenda(seed: 7)
        _ = next.step(.restored([row], bootID: "two"), at: stamp(1, of: 459))
        _ = next.step(.configured(handler, plan), at: stamp(1, of: 459))
        #expect(next.nextBoottimeDeadline == .zero + .seconds(142))
        #expect(raised(next.step(.tick, at: stamp(142, of: 459))) == ["{\"count\":2}"])
        // A slow start must not raise it before the core knows its handler.
        var slow = Agenda(seed: 7)
        #expect(raised(slow.step(.restored([row], bootID: "two"), at: stamp(200, of: 459))).isEmpty)
        #expect(raised(slow.step(.configured(handler, plan), at: stamp(201, of: 459))) == ["{\"count\":2}"])
        let gone = next.step(.configured(handler, AgendaPlan()), at: stamp(143, of: 459))
        #expect(gone.contains(.erase(key)) && next.pending(of: nil, at: stamp(143, of: 459)).isEmpty)
    }

    private func raised(_ effects: [AgendaEffect]) -> [String] {
        effects.compactMap {
            if case .raise(_, let occasion) = $0 { String(decoding: occasion.payload, as: UTF8.self) } else { nil }
        }
    }

    @Test("a row of it that cannot be read is dropped, and its origin is named by its word")
    func rows() {
        var agenda = Agenda(seed: 7)
        let effects = agenda.step(
            .restored([AgendaRow(key: key, value: Array("{}".utf8))], bootID: "one"), at: stamp(1))
        #expect(effects.contains(.erase(key)))
        #expect(key.source.deviceKind.uriPrefix == "/tick/")
        #expect(AgendaRow(StoredEntry(key: StoredEntry.Key(key), value: [])) != nil)
    }

    @Test("its reason wakes, its mode is counted, and the description of the API has its word")
    func words() throws {
        let occasion = Occasion(name: "tick.due", budgetClass: .data, payload: Array("{}".utf8))
        #expect(occasion.reason?.rawValue == "tick")
        #expect(String(decoding: APIDescription.document(version: "1"), as: UTF8.self).contains("\"tick\""))
    }

    @Test("a day with it is recorded, and its replay decides the same")
    func day() throws {
        let trace = """
            wakebridge-trace 1
            clock 2026-03-28T06:00:00.000000Z zone=Europe/Berlin seed=11
            +0.000000 handler t manifest {"tick":{"every":"10m"}}
            +3600.000000 handler t stop
            +1200.000000 handler t start
            +3600.000000 handler t stop
            end

            """
        let replay = try VirtualReplay(TraceReader(bytes: Array(trace.utf8)), profiles: ProfileLibrary())
        let witness = Witness(of: replay)
        var log: [UInt8] = []
        replay.logDecisions { log += $0 }
        _ = try replay.play { _ in }
        let decisions = String(decoding: log, as: UTF8.self)
        #expect(decisions.contains("raise tick.due") && decisions.contains(" tick"), "\(decisions)")
        #expect(witness.trace.contains("{\"tick\":{\"every\":\"10m\"}}"), "\(witness.trace)")
        let again = try Replayed(trace: witness.trace)
        #expect(again.decisions == decisions)
        #expect(again.times(of: "tick.due").count > 5)
    }
}
