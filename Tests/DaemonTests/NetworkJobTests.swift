// A job that requires a network, on a machine whose default route the test puts in and takes out: a network of the daemon's own.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "A job that requires a network", .serialized, .timeLimit(.minutes(4)),
    .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
struct NetworkJobTests {
    /// Runs `ip` in the daemon's network.
    private func ip(_ words: String, _ planner: Planner) throws {
        let enter = ["nsenter", "-t", "\(planner.daemon.process)", "-n", "ip"]
        let (exit, _, talk) = try Child(enter + words.split(separator: " ").map(String.init)).finish()
        try #require(exit == 0, "ip \(words): \(talk)")
    }

    private func raise(_ planner: Planner) throws { try ip("route add default via 192.0.2.2", planner) }
    private func lower(_ planner: Planner) throws { try ip("route del default", planner) }

    private func planner() throws -> Planner {
        let planner = try Planner(isStepped: true)
        planner.daemon.wrapper = ["unshare", "--net"]
        try planner.employ(
            "sync", "jobs: [{ id: \"sync\", kind: \"processing\", require: [\"network\"], max_run: \"1h\" }]",
            more: "autostart: true")
        try planner.start()
        for words in [
            "link set lo up", "link add near type veth peer name far", "link set far up", "link set near up",
            "addr add 192.0.2.1/24 dev near",
        ] { try ip(words, planner) }
        return planner
    }

    @Test(
        "a route that flaps each 2 s starts no job; a steady one does once it has settled, and its loss takes the job back uncharged until it returns"
    )
    func flaps() throws {
        let planner = try planner()
        #expect(try planner.ask("sync", "{\"submit\":{\"job\":\"sync\"}}")["submit"]?.string == "submitted")
        let waits = try planner.pending("sync").first?["waits_for"]?.array?.compactMap(\.string)
        #expect(waits == ["network"])
        for _ in 0..<4 {
            try raise(planner)
            try planner.daemon.advance(by: .seconds(2))
            try lower(planner)
            try planner.daemon.advance(by: .seconds(2))
        }
        #expect(planner.heard("sync", "job.due").isEmpty, "it started while the route flapped")

        let raisedAt = planner.daemon.now
        try raise(planner)
        let first = try planner.await(1, "job.due", of: "sync")[0]
        #expect(first.at - raisedAt >= 3, "it settles for 3 s")
        #expect(first.attempt == 1 && first.data["waived"]?.array == [])
        let sequence = try #require(first.sequence)

        // For less than ten seconds nothing is lost.
        try lower(planner)
        try planner.daemon.advance(by: .seconds(5))
        try raise(planner)
        try planner.daemon.advance(by: .seconds(7))
        #expect(planner.heard("sync", "expiring").isEmpty, "five seconds without a route are no loss")

        let loweredAt = planner.daemon.now
        try lower(planner)
        try planner.say("sync", "{\"progress\":\(sequence),\"done\":1}")
        let warning = try planner.await(1, "expiring", of: "sync", within: 30)[0]
        #expect(warning.data["reason"]?.string == "condition")
        #expect(warning.data["open"]?.array == [.integer(sequence)])
        #expect(warning.at - loweredAt >= 10, "it is lost after 10 s")

        // It does not stop by itself: what it has is taken back, and it is frozen.
        #expect(planner.daemon.wait(20) { (try? planner.daemon.handler("sync")["open"]?.integer) == 0 })
        #expect(try planner.daemon.handler("sync")["strikes"]?.integer == 0, "nothing is charged")
        let entry = try planner.daemon.json("pending", "sync")["pending"]?.array?.first
        #expect(entry?["waits_for"]?.array?.compactMap(\.string) == ["network"], "\(entry ?? .null)")
        // Too late: it comes again all the same.
        try planner.say("sync", "{\"ack\":\(sequence)}")
        try raise(planner)
        let second = try planner.await(2, "job.due", of: "sync")[1]
        #expect(second.data["returned"]?.string == "condition" && second.sequence != sequence && second.attempt == 1)
        #expect(second.process == first.process, "its process lives on")
        try planner.say("sync", "{\"ack\":\(second.sequence ?? 0)}")
        #expect(planner.daemon.wait { (try? planner.pending("sync").isEmpty) == true }, "it is over")
    }
}
