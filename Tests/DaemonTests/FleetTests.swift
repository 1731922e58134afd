// Two daemons and a broker: what a device does at one wakes a frozen handler at the other, whichever goes meanwhile.
import TestBench
import Testing
import WakeModel

@Suite("Two bridges and a broker", .serialized, .tags(.outside), .enabled(unless: RunningBroker.hindrance))
struct FleetTests {
    private let pair: TwoBridges

    init() throws { pair = try TwoBridges() }

    @Test("a strap at one bridge wakes a frozen handler at the other, beat for beat")
    func wakes() throws {
        try pair.office.start()
        #expect(pair.office.wait { pair.talk.contains("follows bridge kitchen") }, "\(pair.talk)")
        try pair.play(40, every: 0.05)
        #expect(pair.office.wait(30) { pair.rates.count >= 40 }, "\(pair.rates.count) \(pair.talk)")
        pair.expectAccounts(of: 40)
        #expect(pair.kinds.prefix(2) == ["connected", "data"])
        let strap = try #require(try pair.office.json("status")["devices"]?.array?.first)
        #expect(strap["alias"]?.string == "kitchen/strap" && strap["link"]?.string == "connected")
        #expect(strap["profile"]?.string == "heart-rate-monitor")
        try pair.kitchen.stop()
        #expect(pair.office.wait { pair.kinds.last == "disconnected" }, "\(pair.talk)")
        #expect(pair.diary.last?.text.contains("bridge-offline") == true)
        let why = try #require(try pair.office.json("status")["devices"]?.array?.first?["why"]?.string)
        #expect(why.contains("bridge kitchen is away"))
        #expect(try pair.office.stop() == 0)
    }

    @Test(
        "the broker is away for five seconds and the follower is killed twice: no beat is lost, and none comes twice unmarked"
    )
    func outages() throws { try pair.outages(beats: 600, every: 0.02, away: 5) }
}
