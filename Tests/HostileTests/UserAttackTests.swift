// Handlers against each other, with users of their own.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Handlers with users of their own")
    struct UserTests {
        @Test(
            "of two handlers with users of their own, neither gets at the other's descriptors, memory, files or life",
            .timeLimit(.minutes(3)))
        func theft() async throws {
            let siege = try Siege("theft", victimUser: "auto")
            let book = "\(siege.yard)/book"
            siege.admit("steal", [book, siege.victim, siege.ground.file("state/handlers/victim")], user: "auto")
            try await siege.stand().checkAccounts()
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
