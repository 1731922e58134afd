// The metrics of a real daemon, as curl, promtool, the parser of prometheus_client and Prometheus itself read them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// What Scripts/prepare-metrics.sh makes; without network it may be missing.
private enum Peers {
    private static let part = PreparedPart("metrics")
    static var hindrance: String? {
        part.hindrance(without: promtool, "\(part.folder)/bin/prometheus", "\(part.folder)/venv/requirements.txt")
    }

    static let promtool = "\(part.folder)/bin/promtool"
    static let dashboard = "\(packageFolder)/Packages/grafana/wakebridge.json"

    static func python(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        let program = "cd '\(packageFolder)' && exec .build/metrics/venv/bin/python Tests/Metrics/metrics.py \"$@\""
        return try Child(["sh", "-c", program, "metrics"] + words).finish(within: 90)
    }
}

/// Of the samples in a scrape: what stands before the value, and the value.
private struct Scrape {
    let contentType: String
    let text: String
    let samples: [String: Double]

    init(_ daemon: RunningDaemon, accept: String = "application/openmetrics-text") throws {
        let asked = try Child([
            "curl", "-s", "-i", "--unix-socket", "\(daemon.runtime)/control.sock", "-H", "Accept: \(accept)",
            "http://w/metrics",
        ]).finish()
        let parts = asked.output.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        try #require(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 200"), "\(asked)")
        contentType = parts[0].split(separator: "\r\n").first { $0.hasPrefix("Content-Type: ") }.map(String.init) ?? ""
        text = parts[1]
        let pairs = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let place = line.lastIndex(of: " ") ?? line.startIndex
            return (String(line[..<place]), Double(line[place...].dropFirst()) ?? .nan)
        }
        samples = Dictionary(pairs) { first, _ in first }
    }

    subscript(sample: String) -> Double? { samples[sample] }

    /// The families that its comments name.
    var families: [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
    }
}

/// A strap that beats so often, each time for a handler that is frozen again when the next beat comes.
private func bridge(beats: Int, _ settings: String = "{}") throws -> RunningDaemon {
    let daemon = try RunningDaemon.withStrap(String(repeating: "+0.300000 1 data 2a37 0648\n", count: beats))
    try daemon.write(settings, to: "config/wakebridge.json5")
    try daemon.drop("hr", manifest("\(daemon.folder)/diary.py", "timers: { linger: \"20ms\" }"))
    try daemon.start("--replay", "\(daemon.folder)/strap.trace")
    return daemon
}

@Suite("Metrics of a real daemon", .serialized)
struct MetricsTests {
    @Test("what a strap did and its handler made of it is counted: events, wakes, latencies, budgets, commits")
    func counts() throws {
        let daemon = try bridge(beats: 30)
        #expect(daemon.wait(30) { daemon.diary("hr").count { $0.hasPrefix("data") } == 30 }, "\(daemon.log)")
        #expect(daemon.wait { (try? daemon.state(of: "hr")) == "suspended" })
        let scrape = try Scrape(daemon)
        #expect(scrape.contentType == "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(scrape["wakebridge_events_total{mode=\"bluetooth-central\",kind=\"data\"}"] == 30)
        #expect(scrape["wakebridge_device_events_total{device=\"strap\"}"] == 31)
        #expect(scrape["wakebridge_devices{mode=\"bluetooth-central\",link=\"connected\"}"] == 1)
        #expect(scrape["wakebridge_handler_state{handler=\"hr\",state=\"suspended\"}"] == 1)
        #expect(scrape["wakebridge_handler_acknowledged_events_total{handler=\"hr\",result=\"unsaid\"}"] == 31)
        #expect(scrape["wakebridge_handler_wakes_total{handler=\"hr\",by=\"launch\"}"] == 1)
        let thaws = scrape["wakebridge_handler_wakes_total{handler=\"hr\",by=\"thaw\"}"] ?? 0
        #expect(thaws >= 1 && scrape["wakebridge_handler_wake_latency_seconds_count{handler=\"hr\"}"] == thaws)
        #expect(scrape["wakebridge_handler_wake_latency_seconds_sum{handler=\"hr\"}"] ?? 0 > 0)
        #expect(scrape["wakebridge_handler_budget_used_seconds_count{handler=\"hr\"}"] ?? 0 >= thaws)
        #expect(scrape["wakebridge_journal_commits_total"] ?? 0 >= 6)
        #expect(scrape["wakebridge_journal_bytes{store=\"run\"}"] ?? 0 > 0)
        #expect(scrape["process_resident_memory_bytes"] ?? 0 > 1e6)
        let age = Double(time(nil)) - (scrape["process_start_time_seconds"] ?? 0)
        #expect((-1...60).contains(age), "\(age)")
    }

    @Test("a handler that ends is counted by its reason, and its metrics go with its manifest")
    func ends() throws {
        let daemon = try bridge(beats: 1)
        #expect(daemon.wait { daemon.diary("hr").contains { $0.hasPrefix("data ") } }, "\(daemon.log)")
        try daemon.tool("simulate", "kill", "hr")
        let ends = "wakebridge_handler_ends_total{handler=\"hr\",reason=\"operator\"}"
        #expect(try daemon.wait { try Scrape(daemon)[ends] == 1 })
        #expect(unlink("\(daemon.manifests)/hr.json5") == 0)
        #expect(try daemon.wait { try !Scrape(daemon).text.contains("handler=\"hr\"") })
    }

    @Test("what prefers the text format gets it, and a wrong method is refused")
    func textFormat() throws {
        let daemon = try bridge(beats: 0)
        let scrape = try Scrape(daemon, accept: "text/plain;version=0.0.4")
        #expect(scrape.contentType == "Content-Type: text/plain; version=0.0.4; charset=utf-8")
        #expect(!scrape.text.contains("# EOF") && scrape.text.contains("# TYPE wakebridge_gaps_total counter\n"))
        let posted = try Child([
            "curl", "-s", "--unix-socket", "\(daemon.runtime)/control.sock", "-X", "POST", "http://w/metrics",
        ]).finish()
        #expect(posted.output.contains("wrong-method"))
    }

    @Test("the page of the metrics has a row for each that is served, with its kind and unit, and no other")
    func page() throws {
        let scrape = try Scrape(try bridge(beats: 0))
        let types = scrape.text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.dropFirst(7) }
        let served = types.map { type -> String in
            let words = type.split(separator: " ").map(String.init)
            let suffix = ["counter": "_total", "info": "_info"][words[1]] ?? ""
            return "\(words[0])\(suffix) \(words[1])"
        }
        let rows = try Document("docs/reference/metrics.md").text.split(separator: "\n").filter {
            $0.hasPrefix("| `wakebridge_") || $0.hasPrefix("| `process_")
        }
        let described = rows.map { row in
            let cells = row.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
            return "\(cells[0]) \(cells[1])"
        }
        #expect(described.sorted() == served.sorted())
    }

    private func metrics(in text: String) -> Set<String> {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        return Set(words.filter { $0.hasPrefix("wakebridge_") || $0.hasPrefix("process_") })
    }

    @Test("every query of the dashboard names metrics that are served, and every metric but few has a place in it")
    func dashboard() throws {
        let scrape = try Scrape(try bridge(beats: 0))
        let script = "\(packageFolder)/Tests/Metrics/metrics.py"
        let queries = try Child(["python3", script, "queries", Peers.dashboard]).finish().output
        let alerts = try Document("docs/how-to/chart-in-grafana.md").blocks.map(\.text).joined()
        let named = metrics(in: queries)
        let counters = Set(
            scrape.families.flatMap { family in
                ["", "_total", "_info", "_bucket", "_sum", "_count"].map { family + $0 }
            })
        #expect(named.subtracting(counters) == [] && named.count > 40)
        #expect(metrics(in: alerts).subtracting(counters) == [])
        let unused = scrape.families.filter { family in !named.contains { $0.hasPrefix(family) } }
        #expect(unused == [])
    }
}

@Suite(
    "Metrics as others read them", .serialized, .tags(.outside),
    .enabled(unless: Peers.hindrance))
struct MetricsPeerTests {
    @Test("promtool finds nothing to complain of in the text format, and reads every sample")
    func promtool() throws {
        let daemon = try bridge(beats: 2)
        try daemon.write(try Scrape(daemon, accept: "text/plain").text, to: "metrics.txt")
        let checked = try Child(["sh", "-c", "'\(Peers.promtool)' check metrics <'\(daemon.folder)/metrics.txt'"])
            .finish()
        #expect(checked.exit == 0 && checked.output + checked.talk == "", "\(checked)")
    }

    @Test("promtool takes the configuration and the alerts of the page on Grafana as they stand there")
    func files() throws {
        let page = try Document("docs/how-to/chart-in-grafana.md")
        let daemon = try RunningDaemon()
        for (mark, name, check) in [
            ("scrape_configs", "scrape.yml", "config --syntax-only"), ("groups:", "rules.yml", "rules"),
        ] {
            try daemon.write(try #require(page.block("yaml", with: mark)).text + "\n", to: name)
            let checked = try Child(["sh", "-c", "'\(Peers.promtool)' check \(check) '\(daemon.folder)/\(name)'"])
                .finish()
            #expect(checked.exit == 0 && checked.output.contains("SUCCESS"), "\(checked)")
        }
    }

    @Test("the OpenMetrics parser of prometheus_client reads every family, and finds nothing against the standard")
    func parser() throws {
        let daemon = try bridge(beats: 2)
        let scrape = try Scrape(daemon)
        try daemon.write(scrape.text, to: "metrics.txt")
        let read = try Peers.python("parse", "\(daemon.folder)/metrics.txt")
        #expect(read.exit == 0, "\(read.talk)")
        let families = read.output.split(separator: "\n").map { String($0.split(separator: " ")[0]) }
        #expect(families == scrape.families)
    }

    @Test("the steps of the page let Prometheus in by a token, and it evaluates every query of the dashboard")
    func prometheus() throws {
        let page = try Document("docs/how-to/chart-in-grafana.md")
        let port = try freePort()
        let daemon = try bridge(beats: 120, "{ web: { listen: \"127.0.0.1:\(port)\" } }")
        let places = [
            ("127.0.0.1:8787", "127.0.0.1:\(port)"), ("/etc/prometheus/wakebridge.token", "\(daemon.folder)/token"),
            ("sudo wakebridge", "'\(Built.tool)' --runtime '\(daemon.runtime)'"), ("sudo ", ""), ("-g prometheus ", ""),
        ]
        func placed(_ text: String) -> String { places.reduce(text) { $0.replacing($1.0, with: $1.1) } }
        let steps = try #require(page.block("sh", with: "--role read"))
        let made = try Child(["sh", "-c", placed(steps.text)]).finish()
        #expect(made.exit == 0 && text(of: "\(daemon.folder)/token").utf8.count >= 32, "\(made)")
        let config = try #require(page.block("yaml", with: "scrape_configs"))
        try daemon.write("global: { scrape_interval: 1s }\n" + placed(config.text) + "\n", to: "prometheus.yml")
        try expectAnswers(daemon)
    }

    /// To every query; nearly all find something.
    private func expectAnswers(_ daemon: RunningDaemon) throws {
        let begun = SystemClock.monotonic()
        let asked = try Peers.python("evaluate", Peers.dashboard, "\(daemon.folder)/prometheus.yml", daemon.folder)
        #expect(asked.exit == 0, "\(asked.output)\n\(asked.talk)")
        let lines = asked.output.split(separator: "\n")
        let empty = lines.filter { $0.hasPrefix("0 ") }.map { $0.dropFirst(2) }
        let span = (SystemClock.monotonic() - begun).wholeMilliseconds
        print("Prometheus evaluated \(lines.count) queries, of which \(empty.count) found nothing, in \(span) ms")
        // There is no adapter here, and nothing goes wrong.
        #expect(lines.count > 50 && empty.filter { !$0.hasSuffix("> 0") && !$0.contains("wakebridge_adapter_") } == [])
    }
}
