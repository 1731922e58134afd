// What handlers are told of an accessory that is plugged, speaks, is unplugged, and of all that may come between.
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("The node of an accessory")
struct PortStories {
    @Test("plugged in it is opened at once, and told of when it has stayed for a second")
    func plugs() {
        var bench = PortBench()
        bench.plug()
        let plugged = bench.now
        #expect(bench.opens == ["/dev/ttyACM0"])
        bench.wait(.milliseconds(999))
        #expect(bench.story == [])
        bench.wait(.milliseconds(1))
        #expect(bench.story == ["+"])
        #expect(bench.told.first?.at == plugged)
        bench.say("a")
        #expect(bench.story == ["+", ":a"])
    }

    @Test("what it says while it settles comes after its connect, with the time when it was said")
    func holdsEarlyWords() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.milliseconds(300))
        let said = bench.now
        bench.say("a")
        #expect(bench.story == [])
        bench.wait(.seconds(1))
        #expect(bench.story == ["+", ":a"])
        #expect(bench.told.last?.at == said)
    }

    @Test("a device that sends much counts as connected before its settle time is over")
    func endsSettlingEarly() {
        var bench = PortBench()
        bench.plug()
        for _ in 1...255 { bench.say("a") }
        #expect(bench.story == [])
        bench.say("b")
        #expect(bench.story.count == 257 && bench.story.last == ":b")
    }

    @Test("unplugged its node is closed at once, and handlers hear of it when it has not come back within two seconds")
    func unplugs() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(5))
        bench.unplug()
        let unplugged = bench.now
        #expect(bench.closes == 1)
        bench.wait(.milliseconds(1_999))
        #expect(bench.story == ["+"])
        bench.wait(.milliseconds(1))
        #expect(bench.story == ["+", "-unplugged"])
        #expect(bench.told.last?.at == unplugged)
        bench.plug()
        bench.wait(.seconds(2))
        #expect(bench.story == ["+", "-unplugged", "+"], "nothing that was not plugged in has said anything")
    }

    @Test(
        "back within two seconds it was never away: one connect that folds the unplug, and a gap for what it said meanwhile"
    )
    func replugs() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(5))
        bench.unplug()
        let from = bench.now.wall
        bench.wait(.milliseconds(1_500))
        bench.plug("/dev/ttyACM1")
        let to = bench.now.wall
        bench.say("a")
        bench.wait(.seconds(3))
        #expect(bench.story == ["+", "gap", "+1", ":a"])
        #expect(bench.gaps == [Gap(cause: .link, count: nil, first: nil, last: nil, from: from, to: to)])
    }

    @Test("gone before it has settled, and silent, it is only logged, and counted in its next connect")
    func vanishesEarly() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.milliseconds(500))
        bench.unplug()
        bench.wait(.seconds(10))
        #expect(bench.story == [])
        #expect(bench.sentences.first?.contains("for 500 ms only") == true)
        bench.plug()
        bench.wait(.seconds(1))
        #expect(bench.story == ["+2"])
    }

    @Test("gone before it has settled, what it had said is told all the same")
    func tellsEarlyWords() {
        var bench = PortBench()
        bench.plug()
        bench.say("a")
        bench.unplug()
        bench.wait(.seconds(2))
        #expect(bench.story == ["+", ":a", "-unplugged"])
    }

    @Test("a node whose permissions udev has not set yet is tried again for a second without an attention")
    func triesAgain() {
        var bench = PortBench()
        bench.refusal = .denied("no")
        bench.plug()
        let plugged = bench.now.wall
        bench.wait(.milliseconds(700))
        bench.refusal = nil
        bench.wait(.seconds(2))
        #expect(bench.opens.count == 5)
        #expect(bench.story == ["gap", "+"])
        #expect(bench.gaps.first?.from == plugged, "what it said until then is lost")
    }

    @Test(
        "one that stays closed to the bridge is told of once, tried ever more rarely, and at once when udev changes it")
    func tellsDenial() {
        var bench = PortBench()
        bench.refusal = .denied("could not open /dev/ttyACM0: Permission denied")
        bench.plug()
        bench.wait(.seconds(1))
        #expect(bench.story == ["!access-denied"])
        bench.wait(.seconds(600))
        #expect(bench.story == ["!access-denied"])
        #expect(bench.opens.count < 40)
        bench.wait(.seconds(3))
        bench.forget()
        bench.refusal = nil
        bench.take(.changed)
        #expect(bench.opens.count == 1)
        bench.wait(.seconds(1))
        #expect(bench.story == ["gap", "+"])
    }

    @Test("a line that hangs up while its device stays is opened again")
    func reopens() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.take(.lost)
        bench.wait(.milliseconds(600))
        #expect(bench.opens.count == 2)
        bench.wait(.seconds(2))
        #expect(bench.story == ["+", "gap", "+1"])
    }

    @Test("a node that fails before udev says why ends as unplugged")
    func losesFirst() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.take(.lost)
        bench.unplug()
        bench.wait(.seconds(3))
        #expect(bench.story == ["+", "-unplugged"])
        #expect(bench.closes == 0, "it was closed already")
    }

    @Test("a line that hung up, was told as gone, and is unplugged only then leaves no gap behind")
    func losesLongBefore() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.refusal = .denied("no")
        bench.take(.lost)
        bench.wait(.seconds(5))
        bench.unplug()
        bench.wait(.seconds(30))
        bench.refusal = nil
        bench.plug()
        bench.wait(.seconds(2))
        #expect(bench.story.filter { $0 != "!access-denied" } == ["+", "-hung-up", "+"])
    }

    @Test("a line that hangs up again and again is opened ever more rarely, until it has stayed for a while")
    func reopensRarely() {
        var bench = PortBench()
        bench.plug()
        for _ in 1...100 {
            bench.take(.lost)
            bench.wait(.seconds(6))
        }
        #expect(bench.opens.count < 40)
        bench.wait(.seconds(60))
        let opens = bench.opens.count
        bench.take(.lost)
        bench.wait(.milliseconds(500))
        #expect(bench.opens.count == opens + 1)
    }

    @Test("what is held while it settles is not called heard: another life of the bridge begins before it")
    func doubtsWhatIsHeld() {
        let until = WallTime(microseconds: 1_699_999_000_000_000)
        var bench = PortBench(heardUntil: until)
        bench.plug()
        bench.say("a")
        #expect(bench.machine.listening == .until(until))
        bench.wait(.seconds(1))
        guard case .since = bench.machine.listening else {
            Issue.record("it is listened to")
            return
        }
    }

    @Test("more than five plugs within a minute are told as flapping, once, and it must stay for longer then")
    func flaps() {
        var bench = PortBench()
        for _ in 1...12 {
            bench.plug()
            bench.wait(.milliseconds(1_200))
            bench.unplug()
            bench.wait(.milliseconds(2_200))
        }
        #expect(bench.story.filter { $0 == "!flapping" }.count == 1)
        bench.plug()
        bench.forget()
        bench.wait(.seconds(9))
        #expect(bench.story == [])
        bench.wait(.seconds(2))
        #expect(bench.story.count == 1 && bench.story[0].hasPrefix("+"))
    }

    @Test("closed by the user it is let go and told so; opened again, what it said meanwhile is a gap")
    func closes() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.take(.session(.closed))
        let from = bench.now.wall
        #expect(bench.closes == 1)
        #expect(bench.story == ["+", "-session-closed"])
        bench.wait(.seconds(60))
        bench.take(.session(.open))
        #expect(bench.opens.count == 2)
        bench.wait(.seconds(1))
        #expect(bench.story == ["+", "-session-closed", "gap", "+"])
        #expect(bench.gaps.first?.from == from)
    }

    @Test("paused its node stays open, and nothing of what it says is heard")
    func pauses() {
        var bench = PortBench()
        bench.plug()
        bench.wait(.seconds(2))
        bench.take(.session(.paused))
        bench.say("a")
        bench.wait(.seconds(60))
        bench.take(.session(.open))
        bench.wait(.seconds(1))
        #expect(bench.closes == 0)
        #expect(bench.story == ["+", "-session-paused", "gap", "+"])
    }

    @Test("what may have been said since an earlier life of the bridge listened is a gap")
    func resumes() {
        let until = WallTime(microseconds: 1_699_999_000_000_000)
        var bench = PortBench(heardUntil: until)
        #expect(bench.machine.listening == .until(until))
        bench.plug()
        let plugged = bench.now.wall
        bench.wait(.seconds(1))
        #expect(bench.machine.listening == .since(plugged))
        #expect(bench.story == ["gap", "+"])
        #expect(bench.gaps.first?.from == until)
    }

    @Test("one that opens no node is connected by being attached, and disconnected by being gone")
    func isThere() {
        var bench = PortBench(AccessoryPlan(node: .none))
        bench.take(.attached(node: nil))
        bench.wait(.seconds(1))
        bench.unplug()
        bench.wait(.seconds(2))
        #expect(bench.story == ["+", "-unplugged"])
        #expect(bench.opens == [] && bench.closes == 0)
    }

    @Test("one that is let go between wakes is opened when a handler is awake, and what it said meanwhile is a gap")
    func detaches() {
        var bench = PortBench(AccessoryPlan(node: .serial, onSuspend: .detach))
        bench.plug()
        bench.wait(.seconds(1))
        #expect(bench.story == ["+"] && bench.opens == [])
        bench.take(.wanted(true))
        #expect(bench.opens.count == 1)
        bench.say("a")
        bench.take(.wanted(false))
        let from = bench.now.wall
        #expect(bench.closes == 1)
        bench.wait(.seconds(10))
        bench.take(.wanted(true))
        #expect(bench.story == ["+", "gap", ":a", "-detached", "gap", "+"])
        #expect(bench.gaps.last?.from == from)
        bench.take(.wanted(false))
        bench.unplug()
        bench.wait(.seconds(2))
        #expect(bench.story.last == "-unplugged")
    }
}
