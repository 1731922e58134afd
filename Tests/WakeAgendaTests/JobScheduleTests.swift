// The schedule of a manifest: what it counts as missed, and how it goes on beside what is ordered.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("The schedule of a job")
struct JobScheduleTests {
    private func world(_ manifest: String) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest)
        return world
    }

    @Test("a job that skipped five times says so with its next run, and the run after that has missed none")
    func skippedOften() throws {
        var world = try world(
            "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', deadline: '10m', on_deadline: 'skip', require: ['power']}]}"
        )
        world.pass(.seconds(5 * 3600 + 1800))
        world.restart()
        world.set(.power, true)
        world.pass(.seconds(1800))
        #expect(world.payload(0).contains(#""missed":5"#), "\(world.payload(0))")
        world.conclude(Sequence(1), .acknowledged(nil))
        world.pass(.seconds(3600))
        #expect(world.raised.count == 2 && !world.payload(1).contains("missed"))
    }
}
