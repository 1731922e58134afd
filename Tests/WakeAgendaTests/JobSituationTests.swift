// Jobs and the situation of their handlers: since when a job waits for one, and what becomes of what a handler cannot run.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Jobs and their handlers")
struct JobSituationTests {
    private let handler = AgendaWorld.handler

    @Test("a job that waits for a person has done so since its handler was known, and not for decades")
    func waitsSince() throws {
        var world = AgendaWorld()
        let known = world.wall
        world.send(.situated(handler, .asleep))
        try world.configure("{jobs: [{id: 'copy', kind: 'continued'}]}")
        world.pass(.seconds(60))
        try world.order(#"{"submit":{"job":"copy"}}"#)
        #expect(world.entry("copy")?.waitsFor == [.init(word: "attached", since: known)])
    }
}
