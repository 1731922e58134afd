// Words that no closed list holds, gathered from the code that writes them, stand in the reference: why a device is
// disconnected, conditions of the bridge, why a handler does not wake, and the codes of the HTTP API.
import TestBench
import Testing

@Suite("Words without a list")
struct ReasonTests {
    /// Lines on which a source says why a device went.
    private static let marks = ["endLink(", "goDown(", "endPresence(", "disconnected(reason:"]

    /// What stands in quotes on a line.
    private func literals(_ line: Substring) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private func lines(of path: String) -> [Substring] { SourceTree.swift.first { $0.path == path }?.lines ?? [] }

    @Test("every reason that a source gives, and every word for a code of HCI, is explained")
    func explained() throws {
        let sources: [Substring] = SourceTree.swift.filter { $0.module == "WakeSources" }.flatMap { $0.lines }
        let said = sources.filter { line in Self.marks.contains { line.contains($0) } }.flatMap(literals)
        let absences = lines(of: "Sources/WakeSources/Bluetooth/LinkFacts.swift")
            .filter { $0.contains("case ") && $0.contains(" = \"") }.flatMap(literals)
        let codes = lines(of: "Sources/WakeHCI/HCIReason.swift").filter { $0.contains("case 0x") }.flatMap(literals)
        #expect(said.count >= 10 && absences.count >= 2 && codes.count >= 16)
        let page = try Document("docs/reference/events-and-replies.md")
        let words = Set(page.words(below: "### Why a device is disconnected"))
        #expect(Set(said + absences + codes).subtracting(words) == [])
    }

    @Test("every code with which the control API refuses is in its page, and no other")
    func refusals() throws {
        let command =
            "cat Sources/WakeControl/*/*.swift Sources/WakeDaemon/Web/*.swift Sources/WakeDaemon/*/*Answers.swift | tr -d '\\n' "
            + "| grep -oE '(code: |badRequest\\( *)\"[a-z-]+\"'"
        let codes = Set(run(command).output.split(separator: "\n").flatMap(literals))
        #expect(codes.count >= 15)
        let rows = try Document("docs/reference/http-api.md").text.split(separator: "\n")
        let cells = rows.filter { $0.hasPrefix("| 4") || $0.hasPrefix("| 5") }
            .compactMap { $0.split(separator: "|").dropFirst().first }
        #expect(Set(cells.flatMap { $0.split { " ,`".contains($0) } }.map(String.init)) == codes)
    }

    @Test("every reason for which a wake does not happen is in the page of wakes, and no other")
    func sleeps() throws {
        let reasons = lines(of: "Sources/WakeCore/Decision.swift").drop { !$0.contains("enum NotWoken") }
            .prefix { $0 != "}" }
        let said = reasons.compactMap { line -> String? in
            guard let start = line.firstIndex(of: "\""), let end = line.lastIndex(of: "\""), start < end else {
                return nil
            }
            return String(line[line.index(after: start)..<end]).replacing("\\\"", with: "\"")
        }
        let words = try Document("docs/reference/what-wakes-when.md").words(below: "## What `wakebridge why` lists")
        #expect(said.count >= 14 && Set(words) == Set(said))
    }

    @Test("every condition of the bridge that handlers are told of is explained")
    func conditions() throws {
        let all: [Substring] = SourceTree.swift.flatMap { $0.lines }
        let lines = all.filter { $0.contains(".bridge(condition:") }
        let words = try Document("docs/reference/events-and-replies.md").words(below: "### Conditions of the bridge")
        #expect(Set(lines.flatMap(literals)) == Set(words))
    }
}
