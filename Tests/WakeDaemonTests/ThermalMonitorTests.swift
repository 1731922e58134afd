// The look at heat, with a directory of files for the sensors: when it looks, when it does not, and what it finds.
import Testing
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

/// Sensors as sysfs shows them; gone with the test.
private final class Sensors {
    let root: String

    init() throws { root = try Directory.makeTemporary(prefix: "wakeheat") }
    deinit { Directory.removeTree(root) }

    func zone(_ number: Int, _ degrees: Double, trips: [(kind: String, degrees: Int)]) throws {
        try Directory.create("\(root)/thermal_zone\(number)")
        try heat(number, degrees)
        for (index, trip) in trips.enumerated() {
            try write("\(trip.kind)\n", "thermal_zone\(number)/trip_point_\(index)_type")
            try write("\(trip.degrees * 1_000)\n", "thermal_zone\(number)/trip_point_\(index)_temp")
        }
    }

    func heat(_ number: Int, _ degrees: Double) throws {
        try write("\(Int(degrees * 1_000))\n", "thermal_zone\(number)/temp")
    }

    func breakDown(_ number: Int) throws { try File.remove("\(root)/thermal_zone\(number)/temp") }

    private func write(_ text: String, _ name: String) throws {
        try File.replace("\(root)/\(name)", with: Array(text.utf8))
    }
}

@Suite("The look at heat")
struct ThermalMonitorTests {
    private let handler = HandlerID(rawValue: 1)

    private func wakes(_ look: ThermalMonitor) { tell(look, .moved(from: .suspended, to: .active, because: "data")) }
    private func sleeps(_ look: ThermalMonitor) {
        tell(look, .moved(from: .suspending, to: .suspended, because: "frozen"))
    }

    private func tell(_ look: ThermalMonitor, _ decision: Decision) {
        let moment = Moment(monotonic: SystemClock.monotonic(), boottime: SystemClock.monotonic())
        look.hear(decision, of: handler, at: Stamp(moment: moment, wall: WallTime(microseconds: 0)))
    }

    private func turn(_ loop: EventLoop, for span: TimeSpan, until condition: () -> Bool = { false }) throws {
        let end = SystemClock.monotonic() + span
        while SystemClock.monotonic() < end, !condition() { _ = try loop.runOnce(timeout: .milliseconds(5)) }
    }

    @Test("each sensor has the limit of its firmware: its lowest hot trip, or 5 °C below its critical one, or none")
    func limits() throws {
        let sensors = try Sensors()
        try sensors.zone(0, 40, trips: [("passive", 60), ("critical", 100), ("hot", 95), ("hot", 90)])
        try sensors.zone(1, 40, trips: [("critical", 85), ("critical", -274)])
        try sensors.zone(2, 40, trips: [("passive", 60)])
        #expect(ThermalZone.all(under: sensors.root).map(\.limit) == [90_000, 80_000, nil])
        #expect(ThermalZone.all(under: sensors.root, limit: 70_000).map(\.limit) == [70_000, 70_000, 70_000])
        #expect(ThermalZone.all(under: sensors.root + "/nowhere").isEmpty)
        #expect(Thermometer([ThermalZone.all(under: sensors.root)[2]]) == nil)
    }

    @Test("it is hot from any sensor's own limit on, until all are 5 °C below, and a broken sensor changes nothing")
    func hysteresis() throws {
        let sensors = try Sensors()
        try sensors.zone(0, 60, trips: [("hot", 90)])
        try sensors.zone(1, 60, trips: [("hot", 70)])
        var thermometer = try #require(Thermometer(ThermalZone.all(under: sensors.root)))
        func isHot(_ first: Double, _ second: Double) throws -> Bool {
            try sensors.heat(0, first)
            try sensors.heat(1, second)
            thermometer.look()
            return thermometer.isHot
        }
        #expect(try !isHot(89, 69))
        #expect(try isHot(89, 70))
        #expect(try isHot(84, 65.5))
        #expect(try !isHot(84, 64))
        #expect(try isHot(90, 20))
        try sensors.breakDown(0)
        try sensors.breakDown(1)
        thermometer.look()
        #expect(thermometer.isHot)
    }

    @Test("a wake makes it look, heat keeps it looking until it has cooled, and then nothing ticks while all sleep")
    func looking() throws {
        let sensors = try Sensors()
        try sensors.zone(0, 95, trips: [("hot", 90)])
        let loop = try EventLoop()
        var places = ConditionPlaces(stateDirectory: sensors.root)
        places.heat = sensors.root
        places.intervals.heat = .milliseconds(50)
        let watches = ConditionWatches(on: loop, bus: nil, places)
        var told: [Bool] = []
        let look = try #require(
            try ThermalMonitor(loop: loop, watches, pause: .milliseconds(50), onChange: { told.append($0) }))
        try turn(loop, for: .milliseconds(100))
        #expect(told == [] && !look.isLooking, "nobody has woken yet")
        wakes(look)
        try turn(loop, for: .seconds(5)) { told == [true] }
        #expect(told == [true] && look.isLooking)
        sleeps(look)
        #expect(look.isLooking, "still hot")
        try sensors.heat(0, 80)
        try turn(loop, for: .seconds(5)) { told == [true, false] }
        #expect(told == [true, false] && !look.isLooking, "cool, and everybody asleep")
        wakes(look)
        #expect(look.isLooking)
        sleeps(look)
        #expect(!look.isLooking, "asleep before the look was due")
        try turn(loop, for: .seconds(5)) { watches.isTrue(.cool) == nil }
        #expect(watches.isTrue(.cool) == nil, "nothing is open")
    }
}
