// The values that a manifest's `inbox` may have, and those that are refused.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("The manifest's inbox")
struct InboxRuleTests {
    @Test("what is left out has its default")
    func defaults() throws {
        let rule = try rule("{}")
        #expect(rule == InboxRule())
        #expect(rule.interval == .seconds(600) && rule.burst == 3 && rule.keep == 100)
        #expect(rule.acceptance.text == "60/m" && rule.acceptance.interval == .seconds(1))
        #expect(rule.lifetime == .seconds(7 * 86_400) && rule.maxLatency == .zero)
    }

    @Test("rates are so many a minute, an hour or a day")
    func rates() throws {
        for (text, seconds) in [("6/h", 600), ("1/m", 60), ("60/m", 1), ("1/d", 86_400), ("24/d", 3_600)] {
            #expect(try rule("{rate: '\(text)'}").interval == .seconds(Int64(seconds)))
            #expect(try rule("{accept: '\(text)'}").acceptance.text == text)
        }
    }

    @Test("topics of the broker may hold the wildcards of MQTT")
    func topics() throws {
        let text = "{mqtt: ['home/cmd', 'home/+/set', 'all/#', '#', '+', '/', 'ü']}"
        #expect(try rule(text).brokerTopics.count == 7)
    }

    @Test(
        "a topic is taken by its own name, by + for one level, and by # for all below, as MQTT has it",
        arguments: [
            ("a/b", "a/b", true), ("a/b", "a/c", false), ("a/b", "a/b/c", false), ("a/b", "a", false),
            ("a", "A", false),
            ("a/+", "a/b", true), ("a/+", "a/", true), ("a/+", "a", false), ("a/+", "a/b/c", false), ("+", "a", true),
            ("+/b", "a/b", true), ("+/+", "/x", true), ("+", "/x", false), ("a/#", "a", true), ("a/#", "a/b/c", true),
            ("a/#", "ab", false), ("#", "a/b", true), ("#", "$SYS/x", false), ("+/x", "$SYS/x", false),
            ("$SYS/#", "$SYS/x", true), ("a/+/c", "a//c", true),
        ])
    func takes(_ filter: String, _ topic: String, _ isTaken: Bool) throws {
        #expect(try rule("{mqtt: ['\(filter)']}").takes(brokerTopic: topic) == isTaken)
    }

    private func rule(_ text: String) throws -> InboxRule { try InboxRule(value(text)) }

    private func value(_ text: String) throws -> JSONValue { try JSONValue(json5: Array(text.utf8)) }

    @Test("what is wrong is refused with a sentence that names the key", arguments: faulty)
    func refused(_ text: String, _ key: String) throws {
        let found = try value(text)
        do throws(ProtocolFault) {
            let rule = try InboxRule(found)
            Issue.record("taken: \(rule)")
        } catch {
            #expect(error.sentence.contains(key) && error.sentence.hasSuffix("."), "\(error)")
            #expect(!error.advice.isEmpty)
        }
    }

    private static let faulty: [(String, String)] = [
        ("[]", "inbox"), ("true", "inbox"), ("'6/h'", "inbox"), ("{rates: '6/h'}", "rates"),
        ("{rate: 6}", "rate"), ("{rate: '6'}", "rate"), ("{rate: '6/'}", "rate"), ("{rate: '/h'}", "rate"),
        ("{rate: '0/h'}", "rate"), ("{rate: '-1/h'}", "rate"), ("{rate: '6/w'}", "rate"), ("{rate: '61/m'}", "rate"),
        ("{rate: '1.5/h'}", "rate"), ("{rate: '6/h/h'}", "rate"), ("{rate: '9999999/d'}", "rate"),
        ("{accept: 60}", "accept"), ("{accept: '0/m'}", "accept"), ("{accept: '6001/m'}", "accept"),
        ("{rate: ' 6/h'}", "rate"), ("{rate: null}", "rate"), ("{rate: ''}", "rate"), ("{burst: 0}", "burst"),
        ("{burst: 101}", "burst"), ("{burst: '3'}", "burst"), ("{burst: 1.5}", "burst"), ("{keep: 0}", "keep"),
        ("{keep: -1}", "keep"), ("{keep: 1001}", "keep"), ("{keep: true}", "keep"), ("{ttl: 60}", "ttl"),
        ("{ttl: '0s'}", "ttl"), ("{ttl: '1y'}", "ttl"), ("{ttl: '400d'}", "ttl"), ("{ttl: '1h', ttl_s: 5}", "ttl"),
        ("{ttl_s: 'x'}", "ttl_s"), ("{max_latency: '2d'}", "max_latency"), ("{max_latency: -1}", "max_latency"),
        ("{max_latency_s: -1}", "max_latency_s"), ("{mqtt: 'home/cmd'}", "mqtt"), ("{mqtt: [1]}", "mqtt"),
        ("{mqtt: ['']}", "mqtt"), ("{mqtt: ['a#']}", "mqtt"), ("{mqtt: ['#/a']}", "mqtt"), ("{mqtt: ['a+/b']}", "mqtt"),
        ("{mqtt: ['a', 'a']}", "mqtt"), ("{mqtt: ['a\\u0000b']}", "mqtt"), ("{mqtt: ['a\\nb']}", "mqtt"),
        ("{mqtt: [\(Array(repeating: "'x'", count: 17).joined(separator: ","))]}", "mqtt"),
        ("{mqtt: ['\(String(repeating: "x", count: 257))']}", "mqtt"),
    ]
}
