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

    @Test("what is submitted for later leaves the job's schedule as it is, and comes beside it, over a restart too")
    func beside() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'refresh', every: '1h'}]}")
        try world.order(#"{"submit":{"job":"tidy","not_before_s":9000}}"#)
        #expect(world.pending.map(\.due) == [world.wall + .seconds(3600), world.wall + .seconds(9000)])
        #expect(world.pending.allSatisfy { $0.waitsFor.map(\.word) == ["time"] })
        for _ in 0..<8 {
            world.pass(.seconds(1800))
            for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
            world.restart()
        }
        #expect(world.raised.map(\.at) == [3700, 7300, 9100, 10900, 14500].map { Instant.seconds($0) })
        #expect(!world.raised.contains { String(decoding: $0.occasion.payload, as: UTF8.self).contains("missed") })
    }

    @Test("an order whose time comes while an occurrence of the schedule waits is one run with it")
    func overtakes() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'refresh', every: '1h', require: ['power']}]}")
        try world.order(#"{"submit":{"job":"tidy","not_before_s":5400,"require":[]}}"#)
        world.pass(.seconds(5399))
        #expect(world.raised.isEmpty && world.pending.map { $0.waitsFor.map(\.word) } == [["power"], ["time"]])
        world.pass(.seconds(1))
        #expect(world.raised.count == 1 && world.pending.count == 1)
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.pending.map(\.due) == [world.wall + .seconds(1800)])
    }

    @Test("cancelling takes back what was submitted beside the schedule, and only then the next occurrence")
    func cancelled() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'refresh', every: '1h'}]}")
        try world.order(#"{"submit":{"job":"tidy","not_before_s":9000}}"#)
        #expect(try world.order(#"{"submit":{"job":"tidy","not_before_s":8000}}"#).word == "replaced")
        #expect(try world.order(#"{"cancel":{"job":"tidy"}}"#).word == "cancelled")
        #expect(world.pending.map(\.due) == [world.wall + .seconds(3600)])
        #expect(try world.order(#"{"cancel":{"job":"tidy"}}"#).word == "cancelled")
        #expect(world.pending.map(\.due) == [world.wall + .seconds(7200)])
    }

    @Test("an order that waits beside a schedule stays when the manifest takes the schedule away")
    func scheduleGoes() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'refresh', every: '1h'}]}")
        try world.order(#"{"submit":{"job":"tidy","not_before_s":9000}}"#)
        try world.configure("{jobs: [{id: 'tidy', kind: 'refresh'}]}")
        #expect(world.pending.map(\.due) == [world.wall + .seconds(9000)])
    }
}
