// Peripherals that change without a pause, or offer ever more: the cost of that, and that it loses no value of another
// one.
import TestBench
import Testing
import WakeLoop
import WakeModel

@testable import WakeSources

private let (first, piece) = (0x4000, 1_000)

@Suite("Crowds of changes", .serialized)
struct CrowdTests {
    /// The number of link steps until the bus has delivered all effects of `commands`; nothing reads them before.
    private func steps(_ air: Air, _ commands: String) throws -> Int {
        let before = air.counted.stamps
        try air.tell(commands)
        // The bus delivers this value after all of them.
        let heard = air.values
        try #require(try air.bluez.tell("notify 1 0011") == "yes")
        try air.turn { air.values == heard + 1 }
        try air.settle()
        return air.counted.stamps - before
    }

    @Test(
        "of ten thousand characteristics none is heard: a few looks at the peripheral, one attention, and no lost word of another"
    )
    func characteristics() throws {
        let air = try Air()
        try air.populate(2)
        var count = 0
        for number in 0..<10 { count += try steps(air, "crowd 2 \(first + number * piece) \(piece)") }
        #expect(count < 2_000, "\(count) steps for 10,000 characteristics")
        #expect(air.values == 10)
        try air.turn { air.reasons == ["services-changed"] }
        try air.turn { air.attentions == [.accessDenied] }
        try air.expect(1)
        // Its further values reach no handler.
        try air.tell("notify 2 0011")
        #expect(try steps(air, "waver 1 1") < 20 && air.values == 11)
        try air.tell("scatter 2 \(first) \(10 * piece)")
        try air.expect(2)
        #expect(air.attentions == [.accessDenied])
    }

    @Test("a name and services that change a thousand times at once are a few looks at the peripheral")
    func names() throws {
        let air = try Air()
        try air.populate(2)
        let count = try steps(air, "waver 2 1000")
        #expect(count < 250, "\(count) steps for 1,000 changes")
        #expect(air.connected.count == 2 && air.values == 1)
    }

    @Test("a characteristic that goes and comes back between two looks was gone")
    func goesAndComes() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("replace 1")
        try air.turn { air.reasons == ["services-changed"] }
        try air.expect(1)
        #expect(try air.bluez.tell("notify 1 0011") == "yes")
        try air.turn { air.values == 1 }
    }
}
