// How the engine cuts what it is fed into turns, each of which is one commit.
import Testing
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon

@Suite("Turns")
struct TurnTests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "waketurns") }

    /// How many turns are completed while a thousand devices are made known within `meanwhile`.
    private func turns(_ meanwhile: (Engine, () -> Void) -> Void) throws -> Int {
        let settings = JournalSettings(runtimeDirectory: folder, stateDirectory: folder)
        let journal = try Journal(opening: settings, bootID: "boot")
        let engine = Engine(journal: journal, clock: RealClock(), from: journal.recover().next, limits: IngressLimits())
        defer { journal.close(clean: true) }
        var turns = 0
        engine.runTurn = { [unowned engine] in
            turns += 1
            engine.completeTurn()
        }
        meanwhile(engine) {
            for number in 1...1_000 {
                let device = Device(source: "/d/\(number)", alias: "one", profile: nil, mode: .bluetoothCentral)
                engine.feed(.device(DeviceID(rawValue: UInt32(number)), device))
            }
        }
        return turns
    }

    @Test(
        "a flood does not keep the commit waiting, but what has to be kept together has one, and nobody else's waits for it"
    )
    func keepsTogether() throws {
        defer { Directory.removeTree(folder) }
        #expect(try turns { _, flood in flood() } > 0)
        #expect(try turns { engine, flood in engine.keepTogether(flood) } == 0)
        #expect(
            try turns { engine, flood in
                engine.keepTogether {}
                flood()
            } > 0)
    }
}
