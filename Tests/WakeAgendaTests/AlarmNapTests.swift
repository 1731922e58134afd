// Machines that nap, are off each night or have no true clock: alarms, polls and jobs come all the same.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Machines that are seldom up for long")
struct AlarmNapTests {
    private func isRaised(_ source: AgendaSource, in world: AgendaWorld) -> Bool {
        world.raised.contains { $0.key.source == source }
    }

    @Test("on a machine that is up for 12 s at a time, nothing that is due waits for longer than one nap")
    func naps() throws {
        for number in 1...10 {
            var world = AgendaWorld()
            let handler = HandlerID(rawValue: UInt32(number))
            try world.configure(
                "{jobs: [{id: 'j', kind: 'refresh', every: '1h', deadline: '2h'}], poll: {min_interval: '10m', max_interval: '1h', require: []}, alarms: [{id: 'a', every: '1h'}, {id: 'b', every: '1m'}]}",
                of: handler)
            for _ in 0..<14 {
                world.pass(.seconds(12))
                world.sleep(.seconds(300))
            }
            for id in ["a", "b"] { #expect(world.raised.contains { $0.key.id == id }, "\(id) of \(number)") }
            for source in [AgendaSource.job, .poll] { #expect(isRaised(source, in: world), "\(source) of \(number)") }
        }
    }

    @Test("what was due when the machine came up is still spread over half a minute")
    func spreads() throws {
        var world = AgendaWorld()
        let ids = (0..<40).map { "a\($0)" }
        try world.configure("{alarms: [\(ids.map { "{id: '\($0)', every: '1h'}" }.joined(separator: ","))]}")
        world.sleep(.seconds(4_000))
        world.pass(.seconds(30))
        #expect(Set(world.raised.map { ($0.at - world.cameUpAt).wholeMilliseconds / 6_000 }).count == 5)
    }

    @Test("without a true clock, and off for four hours each day, what comes daily comes after a day of being up")
    func unsynchronized() throws {
        var world = AgendaWorld(restored: false)
        world.isSynchronized = false
        world.send(.restored([], bootID: world.bootID))
        try world.configure(
            "{jobs: [{id: 'j', kind: 'refresh', every: '1d'}], alarms: [{id: 'a', every: '1d'}], poll: {min_interval: '1d', require: []}}"
        )
        for _ in 0..<12 {
            for _ in 0..<20 {
                world.pass(.seconds(3_600))
                for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
            }
            world.reboot(off: .seconds(4 * 3_600), synchronized: false)
        }
        // Ten minutes at most are lost each time, for it never ended in order.
        for source in [AgendaSource.job, .poll, .alarm] {
            #expect((8...10).contains(world.raised.count { $0.key.source == source }), "\(source)")
        }
    }
}
