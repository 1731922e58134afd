// The words of the kinds of events wherever another language or a page repeats them, compared with their table.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Words of the kinds of events")
struct KindWordsTests {
    private let pending = TriggerKind.all(.isPending).map(\.word)

    /// Texts between two marks of each pair, such as backticks.
    private func quoted(_ text: some StringProtocol, by mark: Character = "`") -> [String] {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// The part of a text from one phrase up to another.
    private func part(of text: String, from start: String, to end: String) throws -> Substring {
        let first = try #require(text.firstRange(of: start), "no \"\(start)\"")
        let rest = text[first.upperBound...]
        return rest[..<(try #require(rest.firstRange(of: end), "no \"\(end)\"").lowerBound)]
    }

    @Test("the Python module knows the events, the sources and the kinds that take until, and no others")
    func python() throws {
        let words = try Document("Packages/python/wakehandler/_words.py").text
        let events = quoted(try part(of: words, from: "    ATTENTION = \"attention\"\n", to: "@property"), by: "\"")
        #expect(events == TriggerKind.all.flatMap(\.events).map(\.name))
        let sources = try part(of: words, from: "class PendingSource(Word):\n", to: "\n\n\n").split(separator: "\n")
            .dropFirst()
        #expect(sources.flatMap { quoted($0, by: "\"") } == pending)
        let event = try Document("Packages/python/wakehandler/_events.py").text
        #expect(event.contains("\"\(TriggerKind.nouns(.returnsUntil)).\""))
    }

    @Test("the Swift library describes a pending request by every source that one can have")
    func library() throws {
        let text = try Document("Sources/WakeHandler/PendingRequest.swift").text
        #expect(text.contains("/// An \(pending.listed) that waits or runs."))
    }

    @Test("the pages for handlers and for the API name every source of pending entries")
    func sources() throws {
        for path in ["docs/reference/events-and-replies.md", "docs/reference/http-api.md"] {
            let row = try part(of: try Document(path).text, from: "| `source`, `id` |", to: ";")
            #expect(quoted(row) == pending, "\(path)")
        }
    }

    @Test("the page of the API says which kinds `scheduled` counts, and the page of metrics the same")
    func scheduled() throws {
        let nouns = TriggerKind.nouns(.isScheduled)
        #expect(try Document("docs/reference/http-api.md").text.contains("| `scheduled`: `count`, `next` | \(nouns);"))
        let row = "| `wakebridge_handler_scheduled` | gauge | \(nouns) that wait or run |"
        #expect(try Document("docs/reference/metrics.md").text.contains(row))
    }

    @Test("the page of metrics names every mode whose events are occasions")
    func modes() throws {
        let page = try Document("docs/reference/metrics.md").text
        let modes = quoted(try part(of: page, from: "For the modes ", to: " it is `occasion`"))
        #expect(modes == Occasion.Reason.allCases.map(\.rawValue))
    }

    @Test("the page of wakes begins with every key of a manifest that lets events come by schedule")
    func keys() throws {
        let page = try Document("docs/reference/what-wakes-when.md").text
        let keys = quoted(try part(of: page, from: "A manifest declares [", to: "]"))
        #expect(keys == TriggerKind.all.map(\.manifestKey))
    }

    @Test("the page for handlers explains every type of event, every order and every reason to wait")
    func events() throws {
        let page = try Document("docs/reference/events-and-replies.md").text
        for name in TriggerKind.all.flatMap(\.events).map(\.name) {
            let (kind, suffix) = (name.prefix { $0 != "." }, name.drop { $0 != "." })
            let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `wakebridge.\(kind).") }
            let names = rows.flatMap { quoted($0.dropFirst(2).prefix { $0 != "|" }) }
            #expect(names.contains("wakebridge.\(name)") || names.contains(String(suffix)), "\(name)")
        }
        for verb in HandlerOrder.Verb.allCases { #expect(page.contains("{\"\(verb.rawValue)\":"), "\(verb.rawValue)") }
        for wait in WaitReason.all { #expect(page.contains("`\(wait.word)`"), "\(wait.word)") }
    }

    @Test("no two kinds share a word, a key of manifests, a type of event or an order")
    func uniqueness() {
        let kinds = TriggerKind.all
        let lists = [
            kinds.map(\.word), kinds.map(\.manifestKey), kinds.flatMap(\.events).map(\.name),
            kinds.flatMap(\.orders).map(\.verb.rawValue),
        ]
        for list in lists { #expect(Set(list).count == list.count, "\(list)") }
    }

    @Test("a secret of an order is in no record, and an order that would be refused is in none at all")
    func secrets() throws {
        func order(_ text: String) throws -> HandlerOrder {
            HandlerOrder(.credential, try JSONValue(parsing: Array(text.utf8)))
        }
        let given = try order(#"{"transfer":"photos/17","password":"hunter2","user":"me"}"#)
        #expect(given.withoutSecrets == (try order(#"{"transfer":"photos/17","user":"","password":""}"#)))
        #expect(try order(#"{"transfer":"photos/17","pasword":"hunter2","user":"me"}"#).withoutSecrets == nil)
        let alarm = HandlerOrder(.alarm, .string("tea"))
        #expect(alarm.withoutSecrets == alarm)
    }
}
