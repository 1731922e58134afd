// Nodes whose drivers take their time to open them, and machines that give way to others.
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("A node that opens slowly")
struct PortOpeningTests {
    private func slow(_ plan: AccessoryPlan = AccessoryPlan(node: .serial)) -> PortBench {
        var bench = PortBench(plan)
        bench.isSlow = true
        return bench
    }

    @Test("is told of when it is open, and what it said since it was plugged in is a gap")
    func opensLate() {
        var bench = slow()
        bench.plug()
        let plugged = bench.now.wall
        bench.wait(.seconds(3))
        #expect(bench.story == [] && !bench.machine.isOpen)
        bench.answer()
        let opened = bench.now.wall
        bench.wait(.seconds(1))
        #expect(bench.story == ["gap", "+"])
        #expect(bench.gaps.first?.from == plugged && bench.gaps.first?.to == opened)
    }

    @Test("and is unplugged before is let go, and its late answer means nothing")
    func unplugsBefore() {
        var bench = slow()
        bench.plug()
        bench.unplug()
        #expect(bench.closes == 1)
        bench.take(.opened)
        #expect(!bench.machine.isOpen)
        bench.wait(.seconds(10))
        #expect(bench.story == [])
    }

    @Test("and is plugged in again meanwhile is opened again")
    func replugsBefore() {
        var bench = slow()
        bench.plug("/dev/ttyACM0")
        bench.plug("/dev/ttyACM1")
        #expect(bench.closes == 1 && bench.opens == ["/dev/ttyACM0", "/dev/ttyACM1"])
        bench.answer()
        #expect(bench.machine.isOpen)
    }

    @Test("and is closed by the user meanwhile is closed as soon as it is open")
    func closesBefore() {
        var bench = slow()
        bench.plug()
        bench.take(.session(.closed))
        #expect(bench.closes == 0, "one at a time")
        bench.answer()
        #expect(bench.closes == 1 && !bench.machine.isOpen)
        bench.wait(.seconds(10))
        #expect(bench.story == [])
        bench.take(.session(.open))
        bench.answer()
        bench.wait(.seconds(1))
        #expect(bench.story.last == "+")
    }

    @Test("after its handler has gone to sleep again does not wake it again")
    func sleepsBefore() {
        var bench = slow(AccessoryPlan(node: .serial, onSuspend: .detach))
        bench.plug()
        bench.wait(.seconds(2))
        #expect(bench.story == ["+"])
        for _ in 1...3 {
            bench.take(.wanted(true))
            bench.take(.wanted(false))
            bench.answer()
            bench.wait(.seconds(5))
        }
        #expect(bench.story == ["+"] && bench.closes == 3)
        bench.take(.wanted(true))
        bench.answer()
        #expect(bench.story == ["+", "gap"])
    }

    @Test("is reported all the same where its handler was suspended before that")
    func isToldAsleep() {
        var bench = slow(AccessoryPlan(node: .serial, onSuspend: .detach))
        bench.take(.wanted(true))
        bench.plug()
        bench.take(.wanted(false))
        bench.answer()
        bench.wait(.seconds(2))
        #expect(bench.story == ["+"])
    }

    @Test("for ten seconds is told of once, and that is over when it is open")
    func tellsSlowness() {
        var bench = slow()
        bench.plug()
        bench.wait(.milliseconds(9_999))
        #expect(bench.story == [] && bench.machine.blockingReason == nil)
        bench.wait(.seconds(100))
        #expect(bench.story == ["!access-denied"])
        #expect(bench.machine.blockingReason?.contains("/dev/ttyACM0 for 10 s") == true)
        bench.answer()
        bench.wait(.seconds(1))
        #expect(bench.story == ["!access-denied", "gap", "+"] && bench.machine.blockingReason == nil)
    }

    @Test("while the system sleeps is not the driver's doing, which is told of when it had ten seconds of its own")
    func sleepsMeanwhile() {
        var bench = slow()
        bench.plug()
        bench.wait(.seconds(4))
        bench.sleep(.seconds(3_600))
        bench.wait(.milliseconds(5_999))
        #expect(bench.story == [])
        bench.wait(.milliseconds(1))
        #expect(bench.story == ["!access-denied"])
    }
}

@Suite("An accessory's presence")
struct PortPresenceTests {
    @Test("goes on waiting while the system sleeps: settling, grace and the next try are over when it wakes")
    func sleeps() {
        var bench = PortBench()
        bench.plug()
        bench.sleep(.seconds(3_600))
        #expect(bench.story == ["+"])
        bench.unplug()
        bench.sleep(.seconds(3_600))
        #expect(bench.story == ["+", "-unplugged"])
        bench.refusal = .busy("no")
        bench.plug()
        bench.wait(.seconds(60))
        let opens = bench.opens.count
        bench.sleep(.seconds(30))
        #expect(bench.opens.count == opens + 1)
    }

    @Test("is ended before its profile is another: its disconnect is not held back for a return that is none")
    func retires() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.unplug()
        let unplugged = bench.now
        #expect(bench.story == ["+"])
        bench.take(.retired)
        #expect(bench.story == ["+", "-unplugged"] && bench.told.last?.at == unplugged)
        bench.take(.retired)
        #expect(bench.story == ["+", "-unplugged"])
    }

    @Test("too short to be told fills no log: one sentence a minute, with how many there were")
    func foldsVisits() {
        var bench = PortBench()
        for _ in 1...100 {
            bench.plug()
            bench.wait(.milliseconds(100))
            bench.unplug()
            bench.wait(.milliseconds(900))
        }
        let visits = bench.sentences.filter { $0.contains("ms only") }
        #expect(visits.count == 2)
        #expect(
            visits.last?.contains("for 100 ms only (and 59 times more since the last report), which was not") == true)
    }

    @Test("let go amid a message has a gap from when that began")
    func letsGoAmidMessage() {
        var bench = PortBench(AccessoryPlan(node: .serial, onSuspend: .detach))
        bench.take(.wanted(true))
        bench.plug()
        bench.wait(.seconds(2))
        let began = bench.now.wall
        bench.wait(.seconds(1))
        bench.take(.wanted(false, toldUntil: began))
        #expect(bench.machine.listening == .until(began))
        bench.wait(.seconds(1))
        bench.take(.wanted(true))
        #expect(bench.gaps.last?.from == began)
        // Closed by the user all is told before.
        bench.wait(.seconds(1))
        bench.take(.session(.closed))
        let closed = bench.now.wall
        bench.take(.session(.open))
        #expect(bench.machine.listening == .until(closed))
    }

    @Test("paused is heard until the pause, also where it is unplugged in it")
    func unplugsInPause() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.take(.session(.paused))
        let paused = bench.now.wall
        bench.wait(.seconds(10))
        bench.unplug()
        #expect(bench.machine.listening == .until(paused))
    }
}
