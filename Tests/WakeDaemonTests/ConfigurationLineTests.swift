// The lines that faults of configuration files are told with.
import Testing
import WakeModel
import WakeProfiles

@testable import WakeEngine

@Suite("Lines of faults") struct ConfigurationLineTests {
    private func faults(_ text: String) -> [String] {
        do throws(ConfigurationErrors) {
            _ = try HandlerManifest(id: "a", file: "a", text: Array(text.utf8), isRoot: false)
            return []
        } catch { return error.located(in: Array(text.utf8)).all.map(\.description) }
    }

    @Test("a value's line is found behind comments, lists and texts that hold brackets")
    func values() {
        let found = faults(
            """
            // { "exec": [
            {
              env: { A: "}{[,", "B": '\\'' /* : [ */ },
              exec: ["/bin/cat", [], "a"],
              modes: [
                "bluetooth-central",
                "blutooth",
              ],
              watch: [{ profile: "p" }, { profile: "q",
                durability: "dsk" }],
              linger: 1, lifecycle: "onshot",
            }
            """)
        #expect(
            found.map { $0.prefix(11) } == ["a: line 11:", "a: line 4: ", "a: line 11:", "a: line 7: ", "a: line 10:"])
    }

    @Test("what is missing has the line of the object that lacks it, and none where that is the file")
    func lacks() {
        #expect(
            faults("{\n exec: [\"/bin/cat\"],\n modes: [],\n watch: [{},\n {}] }").map { $0.prefix(25) } == [
                "a: line 4: watch[0].profi", "a: line 5: watch[1].profi",
            ])
        #expect(faults("\n{}").first == "a: exec is missing")
        let gated = faults("{exec: [\"/bin/cat\"],\n after: [\"power\"]}")
        #expect(gated.map { $0.prefix(22) } == ["a: line 2: after says "])
    }

    @Test("each value of a document has its offset, a value before those in it")
    func offsets() throws {
        #expect(try JSONValue.offsets(json5: Array("{a:[1, {b: 'x'}], c: 2}".utf8)) == [0, 3, 4, 7, 11, 21])
    }
}
