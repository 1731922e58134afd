// When `wakebridge-transferd` may forget a result: not while only memory has it here.
import Testing
import WakeAgenda
import WakeJournal
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeEngine

@Suite("Results that the disk does not have")
struct ConfirmationTests {
    @Test("while the state directory cannot be written, no result is confirmed, and afterwards each is")
    func held() throws {
        let folder = try Directory.makeTemporary(prefix: "wakeconfirmations")
        defer { Directory.removeTree(folder) }
        let late = folder + "/late"
        let journal = try Journal(
            opening: JournalSettings(runtimeDirectory: folder, stateDirectory: late), bootID: "boot")
        defer { journal.close(clean: true) }
        let handler = journal.handlerID(named: "a")
        _ = journal.recover()
        _ = journal.commit()
        try #require(journal.health.disk != .ok)
        let stage = AgendaStage(journal: journal, catalog: Catalog(profiles: ProfileLibrary()), seed: 0)
        let key = AgendaKey(handler, .transfer, "")
        let (confirmation, pause) = (TransferAction(1, .confirm), TransferAction(2, .pause))
        stage.hold(.act(key, confirmation))
        stage.hold(.act(key, pause))
        #expect(stage.removeOutward() == [.act(key, pause)])
        #expect(stage.removeOutward().isEmpty)
        try Directory.create(late)
        _ = journal.compact()
        try #require(journal.health.disk == .ok)
        #expect(stage.removeOutward() == [.act(key, confirmation)])
        #expect(stage.removeOutward().isEmpty)
    }
}
