// The closed words of docs/reference/events-and-replies.md and the limits of limits.md, held to the code that keeps them.
import TestBench
import Testing
import WakeModel

@testable import WakeCore

@Suite("Words and limits of the handlers' page")
struct HandlersPageStories {
    private let page: Document

    init() throws { page = try Document("docs/reference/events-and-replies.md") }

    @Test("the page explains every code with which a reply is refused, and nothing that is none")
    func codes() {
        #expect(
            Set(page.words(below: "### Codes of `wakebridge.error`"))
                == Set(ProtocolFault.Code.allCases.map(\.rawValue)))
    }

    @Test("the page explains every cause of a gap, and nothing that is none")
    func causes() {
        #expect(Set(page.words(below: "### Causes of a gap")) == Set(GapCause.allCases.map(\.rawValue)))
    }

    @Test("the page explains every reason for which a process is started or thawed, and nothing that is none")
    func wakes() {
        #expect(Set(page.words(below: "### Why you run")) == Set(WakeReason.allCases.map(\.wireName)))
    }

    @Test("the page explains every reason with which a process is asked to end, and nothing that is none")
    func ends() {
        let asked: [EndReason] = [.stopped, .restarted, .reconfigured, .finished, .memory, .thermal]
        #expect(Set(page.words(below: "### Why you end")) == Set(asked.map(\.wireName)))
    }

    @Test("every attention that a handler can be told of is explained")
    func attentions() throws {
        #expect(Set(page.words(below: "### Attentions")) == Set(Attention.allCases.map(\.rawValue)))
        let trace = try Document("docs/reference/trace.md").text
        let words = Attention.allCases.map(\.rawValue) + GapCause.allCases.map(\.rawValue)
        for word in words { #expect(trace.contains("`\(word)`"), "\(word)") }
    }

    @Test("every state of a handler is explained, by the name that the status gives it")
    func states() throws {
        let names = HandlerState.allCases.map(\.rawValue)
        let states = try Document("docs/explanation/freezing-and-sleeping.md")
        let explained = states.words(below: "## Where a handler can be")
        #expect(explained.sorted() == names.sorted())
        let rows = try Document("docs/reference/http-api.md").text.split(separator: "\n")
        let row = rows.first { $0.hasPrefix("| `state` |") && $0.contains("`idle`") } ?? ""
        #expect(Set(row.split(separator: "`").map(String.init)).isSuperset(of: names))
    }

    @Test("the page of limits names those that are kept")
    func limits() throws {
        let limits = try Document("docs/reference/limits.md").text
        let rows = [
            "| a line on descriptor 3 | \(ReplyLine.lengthLimit >> 10) KiB, its newline not counted |",
            "| `checkpoint` | \(ReplyLine.checkpointLimit >> 10) KiB of text |",
            "| `after_s` | 0 to \(Int(ReplyLine.longestWait.seconds)) |",
            "| `ref` | \(ReplyLine.referenceLimit) bytes as written; no array, no object |",
            "| a task's name | 1 to \(ReplyLine.taskNameLimit) bytes; 120 in the libraries, which add a number |",
            "| open tasks | \(BudgetLedger.taskLimit) |",
            "| a value for a characteristic | \(ReplyLine.characteristicLimit) bytes |",
        ]
        for row in rows { #expect(limits.contains(row), "docs/reference/limits.md should say: \(row)") }
    }
}
