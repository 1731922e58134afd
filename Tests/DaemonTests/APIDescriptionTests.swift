// The description of the API against a running daemon, by schemathesis: answers are as described, and nonsense is refused.
import TestBench
import Testing
import WakeModel
import WakeSystem

private enum Schemathesis {
    private static let part = PreparedPart("openapi")
    static var hindrance: String? { part.hindrance(without: "\(part.folder)/venv/requirements.txt") }
}

@Suite(
    "The API and its description", .tags(.fullScale), .timeLimit(.minutes(15)),
    .enabled(unless: Schemathesis.hindrance))
struct DescribedAPITests {
    @Test("what schemathesis makes of the description, the daemon answers as described, and refuses what it must")
    func described() throws {
        let port = try freePort()
        let beats = (0..<600).map { "+0.5 1 data 2a37 00\(60 + $0 % 40)\n" }.joined()
        let daemon = try RunningDaemon.withStrap(beats)
        try daemon.write("{ web: { listen: \"127.0.0.1:\(port)\" } }", to: "config/wakebridge.json5")
        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        let token = try #require(try daemon.json("web", "--token", "schemathesis")["token"]?.string)
        let trial = try Child(
            ["sh", "\(packageFolder)/Tests/OpenAPI/try.sh", "http://127.0.0.1:\(port)/", token, "diary", "strap"]
        ).finish()
        #expect(trial.exit == 0, "\(trial.output.suffix(6000)) \(trial.talk.suffix(2000))")
    }
}
