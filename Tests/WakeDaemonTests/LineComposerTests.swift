// What a handler is given where the journal has not what was written.
import Testing
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles

@testable import WakeCore
@testable import WakeDaemon
@testable import WakeEngine

@Suite("Lines of events")
struct LineComposerTests {
    @Test(
        "an event of which nothing can be read is a gap in its place, from its device, whether or not that is known",
        arguments: [(true, "strap"), (false, "unknown-1")])
    func unreadable(isKnown: Bool, name: String) throws {
        let settings = JournalSettings(runtimeDirectory: nil, stateDirectory: nil)
        let journal = try Journal(opening: settings, bootID: "boot")
        let catalog = Catalog(profiles: ProfileLibrary())
        let strap = Device(uri: "/d/1", alias: "strap", profile: nil, kind: .bluetoothCentral)
        if isKnown { catalog.set(strap, nil, as: EventOrigin(rawValue: 1)) }
        let clock = VirtualClock(wall: WallTime(microseconds: 1))
        let composer = LineComposer(catalog: catalog, idPrefix: "j1-", clock: clock)
        let turn = try Turn(
            journal: journal, clock: clock, recovery: journal.recover(), limits: .none,
            executor: SimulatedExecutor(composer: composer, work: SimulatedWork(.zero)),
            agenda: AgendaStage(journal: journal, catalog: catalog, seed: 0))
        let event = DeliveredEvent(
            sequence: Sequence(7), origin: EventOrigin(rawValue: 1), attempt: 1, isRedelivered: false)
        let delivery = Delivery(preface: .none, notices: [], events: [event], budget: .seconds(10))
        var writer = JSONWriter()
        composer.compose(delivery, for: HandlerID(rawValue: 1), in: turn, into: &writer)
        let line = String(decoding: writer.bytes, as: UTF8.self)
        #expect(line.contains("\"seq\":7") && line.contains("gap") && line.contains("\"\(name)\""))
    }
}
