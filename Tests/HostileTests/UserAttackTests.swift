// Other users of the machine, and handlers against each other.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Other users", .tags(.measures))
    struct UserTests {
        @Test(
            "users who may not use the control socket cost the daemon next to nothing, however often they call",
            .timeLimit(.minutes(3)))
        func strangers() async throws {
            let siege = try Siege("strangers")
            let figures = try await siege.stand {
                for _ in 0..<4 { try siege.send(["connect", siege.ground.socket, "3"]) }
            }
            figures.check(processor: 0.25)
            let log = siege.ground.file("strangers.log")
            _ = try await wait(60) { lines(of: log).count >= 4 }
            try await siege.end()
            let calls = lines(of: log)
            #expect(calls.count == 4 && calls.allSatisfy { $0.contains(" calls, ") }, "\(calls)")
        }

        @Test(
            "of two handlers with users of their own, neither gets at the other's descriptors, memory, files or life",
            .timeLimit(.minutes(3)))
        func theft() async throws {
            let siege = try Siege("theft", victimUser: "auto")
            let book = "\(siege.yard)/book"
            siege.admit("steal", [book, siege.victim, siege.ground.file("state/handlers/victim")], user: "auto")
            let figures = try await siege.stand()
            figures.check()
            _ = try await wait(60) { lines(of: book).contains { $0.hasPrefix("end: ") } }
            let notes = lines(of: book).map { $0.split(separator: ": ").map(String.init) }
            let results = Dictionary(notes.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
            #expect(results["victim"] == "found" && results["end"] == "reached", "\(results)")
            #expect(!results.values.contains("done"), "\(results)")
            let users = [results["user"].flatMap { uid_t($0) }, owner(of: "\(siege.yard)/record")]
            #expect(Set(users).count == 2 && !users.contains(0) && !users.contains(nil), "\(users)")
            try await siege.end()
        }

        private func owner(of path: String) -> uid_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_uid : nil
        }
    }
}
