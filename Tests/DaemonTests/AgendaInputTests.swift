// Whatever is malformed about alarms, polls, jobs and gates is named by a running bridge, and everything else goes on.
import TestBench
import Testing
import WakeModel

@Suite("Bad schedules given to a running bridge", .serialized, .timeLimit(.minutes(4)))
struct AgendaInputTests {
    private func planner() throws -> Planner {
        let planner = try Planner()
        try planner.employ(
            "good",
            """
            alarms: [{ id: "fixed", every: "1h", phase: "1s" }], jobs: [{ id: "backup", kind: "processing" }],
            poll: { min_interval: "1h", max_interval: "1h" }, budget: "1h"
            """, more: "autostart: true")
        try planner.start()
        return planner
    }

    @Test("the table of bad schedules has at least sixty rows")
    func isLongEnough() { #expect(brokenSchedules.count >= 40 && brokenOrders.count >= 40) }

    @Test(
        "every malformed alarm, poll, job and gate of a manifest is named by reload, and a handler's next order is answered"
    )
    func manifests() throws {
        let planner = try planner()
        for broken in brokenSchedules {
            try planner.daemon.drop("broken", broken.text)
            let reload = try planner.daemon.tool("reload")
            #expect(reload.exit == 1 && reload.talk.contains(broken.words), "\(broken): \(reload.talk)")
        }
        let open = try #require(try planner.await(1, "alarm.fired", of: "good")[0].sequence)
        try planner.say("good", "{\"ack\":\(open)}")
        #expect(try planner.ask("good", "{\"alarm\":{\"id\":\"next\",\"in_s\":0.1}}")["alarm"]?.string == "set")
        try planner.await(2, "alarm.fired", of: "good")
        #expect(try planner.daemon.json("handlers")["handlers"]?.array?.count == 1)
    }

    @Test(
        "every malformed order is answered with its code and sentence, changes nothing, and the next order is answered")
    func orders() throws {
        let planner = try planner()
        let open = try #require(try planner.await(1, "alarm.fired", of: "good")[0].sequence)
        let before = try planner.pending("good").count
        for (number, broken) in brokenOrders.enumerated() {
            let line = String(decoding: broken.bytes, as: UTF8.self).replacing("SEQ", with: "\(open)")
            try planner.say("good", line)
            let errors = try planner.await(number + 1, "error", of: "good")
            #expect(errors.count == number + 1, "\(line) brought more than one")
            let answer = errors[number].data
            #expect(answer["sentence"]?.string?.contains(broken.words) == true, "\(line): \(answer)")
            #expect(answer["code"]?.string == broken.code, "\(line): \(answer)")
            #expect(answer["advice"]?.string?.isEmpty == false, "\(line): \(answer)")
            #expect(try planner.pending("good").count == before, "\(line) changed something")
        }
        #expect(try planner.daemon.handler("good")["open"]?.integer == 1)
        #expect(try planner.ask("good", "{\"alarm\":{\"id\":\"next\",\"in_s\":0.1}}")["alarm"]?.string == "set")
        try planner.say("good", "{\"ack\":\(open)}")
        #expect(try planner.await(2, "alarm.fired", of: "good")[1].name == "next")
    }

    @Test("verbs that a manifest does not permit are refused with what to write there")
    func notPermitted() throws {
        let planner = try Planner()
        try planner.employ("bare", "alarms: []", more: "autostart: true")
        try planner.employ("worker", "jobs: [{ id: \"j\", kind: \"refresh\" }]", more: "autostart: true")
        try planner.start()
        for (handler, order, key) in [
            ("bare", "{\"submit\":{\"job\":\"j\"}}", "jobs"), ("bare", "{\"register\":\"j\"}", "jobs"),
            ("bare", "{\"cancel\":{\"job\":\"j\"}}", "jobs"), ("bare", "{\"poll\":\"never\"}", "poll"),
            ("worker", "{\"alarm\":{\"id\":\"a\",\"in_s\":1}}", "alarms"),
            ("worker", "{\"cancel\":{\"alarm\":\"a\"}}", "alarms"),
        ] {
            let answer = try planner.ask(handler, order)
            #expect(answer["code"]?.string == "not-permitted", "\(order): \(answer)")
            #expect(answer["sentence"]?.string?.contains("has no \"\(key)\"") == true, "\(order): \(answer)")
            #expect(answer["advice"]?.string?.contains("\"\(key)\"") == true, "\(order): \(answer)")
        }
        #expect(try planner.ask("bare", "{\"alarm\":{\"id\":\"a\",\"in_s\":3600}}")["alarm"]?.string == "set")
        #expect(
            try planner.ask("worker", "{\"submit\":{\"job\":\"j\",\"not_before_s\":3600}}")["submit"]?.string
                == "submitted")
    }

    @Test("a hundred and twenty-eight alarms are set, the next is refused, and none makes way for it")
    func limit() throws {
        let planner = try Planner()
        try planner.employ("many", "alarms: []", more: "autostart: true")
        try planner.start()
        for number in 0..<128 { try planner.say("many", "{\"alarm\":{\"id\":\"a\(number)\",\"in_s\":3600}}") }
        try planner.await(128, "reply", of: "many")
        #expect(try planner.ask("many", "{\"alarm\":{\"id\":\"more\",\"in_s\":3600}}")["code"]?.string == "too-many")
        #expect(try planner.pending("many").count == 128)
        #expect(try planner.ask("many", "{\"cancel\":{\"alarm\":\"a7\"}}")["cancel"]?.string == "cancelled")
        #expect(try planner.ask("many", "{\"alarm\":{\"id\":\"more\",\"in_s\":3600}}")["alarm"]?.string == "set")
    }
}
