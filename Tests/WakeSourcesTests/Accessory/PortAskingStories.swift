// What an accessory's profile asks over its node: of the machine in virtual time, and over real terminals.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

private func question(_ byte: UInt8) -> AskPlan.Question { .init(to: .serial, bytes: [byte]) }

@Suite("Port asking")
struct PortAskingStories {
    private func bench(_ onSuspend: AccessoryPlan.OnSuspend = .keep) -> PortBench {
        var plan = AccessoryPlan(node: .serial, onSuspend: onSuspend)
        plan.ask = AskPlan(start: [question(1)], poll: [.init(question(2), every: .seconds(10))])
        return PortBench(plan)
    }

    @Test(
        "asked when it is open, before it is announced; polled while a handler is awake; asked again when replugged")
    func asks() {
        var bench = bench()
        bench.plug()
        #expect(bench.questions == [1] && bench.story == [])
        bench.say("a")
        bench.wait(.seconds(30))
        #expect(bench.questions == [1] && bench.story == ["+", ":a"])
        bench.take(.wanted(true))
        bench.say("b")
        bench.wait(.seconds(9))
        #expect(bench.questions == [1, 2])
        bench.wait(.seconds(1))
        #expect(bench.questions == [1, 2, 2])
        bench.unplug()
        bench.wait(.seconds(60))
        #expect(bench.questions.count == 3)
        bench.plug()
        #expect(bench.questions.last == 1)
    }

    @Test("nothing is asked of a node that is let go, paused or closed")
    func rests() {
        var bench = bench(.detach)
        bench.plug()
        bench.wait(.seconds(1))
        bench.take(.wanted(true))
        #expect(bench.questions == [1])
        bench.say("a")
        #expect(bench.questions == [1, 2])
        bench.take(.wanted(false))
        bench.wait(.seconds(60))
        #expect(bench.questions == [1, 2] && bench.closes == 1)
        for session in [LinkSession.paused, .closed] {
            bench.take(.wanted(true))
            bench.take(.session(.open))
            bench.say("a")
            bench.forget()
            bench.take(.session(session))
            bench.wait(.seconds(60))
            #expect(bench.questions == [])
        }
    }

    @Test("that it does not answer is logged once, and told to who asks what is wrong with it")
    func silence() {
        var bench = bench()
        bench.plug()
        bench.take(.wanted(true))
        bench.wait(.seconds(60))
        #expect(bench.sentences == ["it does not answer what its profile asks"])
        #expect(bench.machine.blockingReason == "it does not answer what its profile asks")
        bench.say("a")
        #expect(bench.machine.blockingReason == nil)
    }

    @Test("questions go out by the line, and the answers are data")
    func overTerminals() throws {
        let bench = try AccessoryBench()
        bench.plan.ask = AskPlan(
            start: [.init(to: .serial, bytes: Array("id?".utf8))],
            poll: [.init(.init(to: .serial, bytes: Array("w?".utf8)), every: .milliseconds(100))])
        let gadget = try Gadget()
        var heard = ""
        func hears(_ text: String) throws -> Bool {
            try bench.turn {
                heard += gadget.heard()
                return heard.contains(text)
            }
        }
        bench.plug(gadget, serial: "A1")
        #expect(try hears("id?"))
        #expect(bench.source.needsWanted)
        gadget.say("scale\n")
        #expect(try bench.turn { bench.story().contains(":scale") })
        #expect(!heard.contains("w?"), "no handler is awake")
        bench.source.setWanted(true, "/accessory/2341:0043:A1:00")
        #expect(try hears("w?"))
        gadget.say("5 kg\n")
        #expect(try hears("w?w?"))
        #expect(try bench.turn { bench.story() == ["+", ":scale", ":5 kg"] })
    }
}
