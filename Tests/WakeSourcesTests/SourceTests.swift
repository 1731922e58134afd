// The source on a real bus, against a bluetoothd that does what it is told and much that it should not.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("Bluetooth source", .serialized)
struct SourceTests {
    @Test("20 peripherals connect, speak, drop, forget, change and come back: every word told once, or in one gap")
    func keepsBooks() throws {
        let air = try Air()
        try air.populate(20)
        var dice = Dice(20)
        for round in 0..<30 {
            for _ in 0..<3 {
                let number = 1 + dice.below(20)
                let verb = ["down", "down", "services", "forget"][dice.below(4)]
                try air.tell("\(verb) \(number)")
                if dice.isOne(in: 3) { try air.settle() }
            }
            if round % 10 == 9 { try air.tell("power hci0 off", "power hci0 on") }
            try air.say()
        }
        for number in 1...20 { try air.tell("up \(number)") }
        try air.pass(.milliseconds(200))
        try air.expect(20)
        try air.say()
        try air.pass(.milliseconds(50))
        try air.checkBooks()
        #expect(air.values > 200 && air.reasons.count > 20)
        #expect(Set(air.reasons).isSubset(of: ["link-lost", "services-changed", "adapter-down"]))
    }

    @Test("services that change, and with them for a moment all that a profile knows it by: one link's end, one gap")
    func changesServices() throws {
        let air = try Air()
        try air.populate(1)
        for _ in 0..<3 {
            try air.say()
            try air.tell("services 1")
            try air.turn { air.connected.isEmpty }
            try air.say()
            try air.expect(1)
        }
        try air.say()
        #expect(air.reasons == Array(repeating: "services-changed", count: 3))
        try air.checkBooks()
    }

    @Test(
        "services that bluetoothd resolves anew while it stays connected: no end of the link, one gap, and all from then on"
    )
    func resolvesAnew() throws {
        let air = try Air()
        try air.populate(1)
        let before = air.gaps
        try air.say()
        air.renew()
        try air.tell("anew 1")
        try air.turn { air.gaps > before }
        try air.settle()
        for _ in 0..<3 { try air.say() }
        #expect(air.reasons == [] && air.connected.count == 1 && air.gaps == before + 1)
        try air.checkBooks()
    }

    @Test("of two characteristics with one UUID each is switched on, and each value has the name of its own")
    func tellsTwinsApart() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "second 1", "live")
        try air.expect(1)
        try air.say()
        try air.turn { air.values == 1 }
        #expect(try air.bluez.tell("speaks 1 59") == "yes")
        let second = CharacteristicName(BluetoothUUID(short: 0x2a37), number: 2)
        try air.turn { air.latest[.characteristic(second)] == [0x59] }
        #expect(air.latest[.characteristic(heart)] == [0, 0] && air.attentions == [])
    }

    @Test("a registration that bluetoothd refuses is tried again until peripherals come back by themselves")
    func registersAgain() throws {
        let air = try Air()
        try air.tell("fault RegisterApplication failed 2", "adapter hci0", "peripheral 1 hci0", "live")
        try air.expect(1)
        #expect(try air.bluez.tell("calls RegisterApplication") == "3")
        #expect(try air.comesToRest())
    }

    @Test("while all is quiet nothing ticks")
    func rests() throws {
        let air = try Air()
        try air.populate(20)
        #expect(try air.comesToRest())
    }

    @Test("bluetoothd is killed and comes back: subscribed again within a second, even where the kernel kept the links")
    func survivesBluetoothd() throws {
        let air = try Air()
        try air.populate(5)
        for state in ["down", "leftover"] {
            // The best of three: of the bridge's own pace the others say nothing on a busy machine.
            let time = try (0..<3).map { _ in try replaceBluez(of: air, state) }.min() ?? .seconds(9)
            #expect(time < .seconds(1), "\(state): \(time.wholeMilliseconds) ms")
        }
        try air.expectValues(60)
        #expect(Set(air.reasons) == ["bluetoothd-gone"])
        try air.checkBooks()
    }

    /// How long it takes until five are heard again, from the name of the next bluetoothd on.
    private func replaceBluez(of air: Air, _ state: String) throws -> TimeSpan {
        try air.say()
        try air.replaceBluez()
        try air.turn { air.connected.isEmpty }
        try air.tell("adapter hci0")
        for number in 1...5 { try air.tell("peripheral \(number) hci0 \(state)") }
        try air.settle()
        let begun = SystemClock.monotonic()
        try air.tell("live")
        try air.expect(5)
        let time = SystemClock.monotonic() - begun
        try air.say()
        return time
    }

    @Test("the bus is killed and comes back, and bluetoothd with it")
    func survivesBus() throws {
        let air = try Air()
        try air.populate(3)
        try air.say()
        try air.replaceBus()
        #expect(air.reasons == Array(repeating: "bluetoothd-gone", count: 3))
        try air.populate(3)
        try air.say()
        try air.expectValues(6)
        try air.checkBooks()
    }

    @Test("an adapter that is unplugged and comes back as another hciN is the same, and so are its peripherals")
    func followsAdapter() throws {
        let air = try Air()
        try air.populate(3)
        try air.tell("remove hci0")
        try air.turn { air.connected.isEmpty }
        try air.turn { air.adapters == ["00:AA:00:00:00:01": false] }
        try air.say()
        try air.tell("adapter hci10", "move hci10")
        try air.expect(3)
        #expect(air.adapters == ["00:AA:00:00:00:01": true])
        try air.say()
        try air.expectValues(3)
        try air.checkBooks()
    }

    @Test(
        "what bluetoothd answers wrongly at first is asked again: busy, not connected, gone in the middle of the call")
    func survivesAnswers() throws {
        for fault in ["progress", "notconnected"] {
            let air = try Air()
            try air.tell("fault StartNotify \(fault) 2")
            try air.populate(1)
            #expect(try air.bluez.tell("calls StartNotify") == "3")
            try air.say()
            try air.expectValues(1)
        }
        let air = try Air()
        try air.tell("fault StartNotify exit", "adapter hci0", "peripheral 1 hci0", "live")
        try air.turn { air.bluez.isGone }
        try air.replaceBluez()
        try air.populate(1)
    }

    @Test("services that are resolved before their objects are there are waited for")
    func waitsForObjects() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "resolve 1 early", "live")
        try air.expect(1)
        try air.say()
        try air.expectValues(1)
    }

    @Test("a strap that forgot while bluetoothd believes it did not is found out and mended")
    func findsOut() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("forget 1", "down 1")
        try air.turn { air.connected.isEmpty }
        try air.expect(1)
        #expect(try air.bluez.tell("calls StopNotify") == "1")
        try air.say()
        try air.expectValues(1)
        try air.checkBooks()
    }

    @Test("the value that a read at connect causes is told once")
    func readsOnce() throws {
        let air = try Air()
        air.read = [heart]
        try air.tell("adapter hci0", "peripheral 1 hci0", "live")
        try air.turn { air.values == 1 }
        try air.pass(.milliseconds(50))
        #expect(air.values == 1)
    }

    @Test("nonsense and a flood of 5,000 strangers change nothing")
    func withstandsNonsense() throws {
        let air = try Air()
        try air.populate(3)
        try air.tell("nonsense", "flood 5000")
        try air.pass(.milliseconds(100))
        #expect(air.connected.count == 3 && air.reasons.isEmpty && air.accounts.count == 3)
        #expect(air.source?.watched.count == 3)
        try air.say()
        try air.expectValues(3)
    }

    @Test("a strap that nothing brings back is dialled when it is heard")
    func dials() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("fault RegisterApplication failed", "quiet", "down 1")
        try air.turn { air.connected.isEmpty }
        try air.pass(.milliseconds(100))
        #expect(air.connected.isEmpty)
        try air.tell("advertise 1")
        try air.expect(1)
        #expect(try air.bluez.tell("calls Connect") == "1")
    }

    @Test("an adapter that was full is thought to have room again after a while, though nothing else happens")
    func forgetsRefusal() throws {
        let air = try Air()
        try air.populate(2)
        try air.tell("quiet", "down 2")
        try air.turn { air.connected.count == 1 }
        air.source?.slots.memory = .seconds(1)
        air.source?.recordFullAdapter(on: "/org/bluez/hci0")
        let waiting = { air.source?.watched["/bluetooth/C0:DE:00:00:00:02"]?.machine.facts.hasRoom }
        #expect(waiting() == false)
        try air.tell("advertise 2")
        try air.pass(.milliseconds(20))
        #expect(waiting() == false)
        try air.turn { waiting() == true }
        try air.pass(.milliseconds(20))
        #expect(air.source?.slots.nextEnd == nil)
    }

    @Test("an adapter that refuses even its first link is not waited for as if it were full")
    func triesIllAdapter() throws {
        var patience = LinkTimeouts()
        patience.beforeConnect = .milliseconds(5)
        let air = try Air(patience: patience)
        let faults = ["RegisterApplication failed 99", "Connect full"].map { "fault \($0)" }
        for command in faults + ["adapter hci0", "peripheral 1 hci0", "live"] { try air.tell(command) }
        try air.turn { air.source?.watched.count == 1 }
        try air.tell("advertise 1")
        try air.turn { air.source?.watched.values.first?.machine.dialling.failures == 1 }
        #expect(air.attentions.isEmpty)
        try air.tell("advertise 1")
        try air.expect(1)
    }

    @Test("descriptors and memory are the same after 200 lives of bluetoothd")
    func leavesNothing() throws {
        let air = try Air()
        func live() throws {
            try air.populate(2)
            try air.tell("die")
            try air.turn { air.connected.isEmpty }
        }
        for _ in 0..<30 { try live() }
        let (descriptors, memory) = (count(of: "/proc/self/fd"), residentPages())
        for _ in 0..<200 { try live() }
        // Other suites, at work beside this one, give back what they hold.
        #expect(count(of: "/proc/self/fd") <= descriptors)
        let growth = (residentPages() - memory) * 4
        #expect(growth < 2048, "\(growth) KiB more")
        #expect(air.source?.watched.count == 2)
    }

    private func count(of directory: String) -> Int {
        guard let stream = opendir(directory) else { return -1 }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        return count
    }

    private func residentPages() -> Int {
        let text = (try? File.text(at: "/proc/self/statm")) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
