// The text of a scrape: names, units, escaping, numbers and buckets in both formats, and who gets which.
import Testing
import WakeControl
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import WakeCore

private let counter = MetricFamily("wake_work_seconds", .counter, "Work \"done\" in \\one\nday.")

private func text(_ format: ExpositionFormat, _ write: (inout ExpositionWriter) -> Void) -> String {
    var writer = ExpositionWriter(format)
    write(&writer)
    writer.end()
    return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite("The text of a scrape")
struct MetricsTextTests {
    @Test("OpenMetrics has a counter's total, its unit, its help in escapes, and an end")
    func openMetrics() {
        let text = text(.openMetrics) { writer in
            writer.begin(counter)
            writer.sample(MetricLabels("handler", "strap").adding("by", "thaw"), TimeSpan.milliseconds(1_500))
        }
        #expect(
            text == """
                # TYPE wake_work_seconds counter
                # UNIT wake_work_seconds seconds
                # HELP wake_work_seconds Work \\"done\\" in \\\\one\\nday.
                wake_work_seconds_total{handler="strap",by="thaw"} 1.5
                # EOF

                """)
    }

    @Test("the text format of Prometheus names the total in its comments, and has neither units nor an end")
    func prometheusText() {
        let text = text(.prometheusText) { writer in
            writer.begin(counter)
            writer.sample(.none, 3 as UInt64)
            writer.begin(MetricFamily("wake_build", .info, "It."))
            writer.sample(MetricLabels("version", "1"), true)
        }
        #expect(
            text == """
                # HELP wake_work_seconds_total Work "done" in \\\\one\\nday.
                # TYPE wake_work_seconds_total counter
                wake_work_seconds_total 3
                # HELP wake_build_info It.
                # TYPE wake_build_info gauge
                wake_build_info{version="1"} 1

                """)
    }

    @Test(
        "whatever a device calls itself, its label is one value on one line, and reads back as it was",
        arguments: [
            "a\"} 1\n# EOF\nx{y=\"", "\\", "\\n", "\\\"", "\n\n", "", "é😀\u{7}\r\u{0}", "end\\", "{},= \t",
            "\u{2028}\u{85}",
        ])
    func hostileLabels(name: String) throws {
        for format in ExpositionFormat.allCases {
            let text = text(format) { $0.sample(MetricLabels("device", name).adding("mode", "x"), 7) }
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
            #expect(lines.count == (format == .openMetrics ? 2 : 1))
            let line = String(try #require(lines.first)) ?? ""
            #expect(line.hasPrefix("{device=\"") && line.hasSuffix("\",mode=\"x\"} 7"))
            #expect(unescaped(line.dropFirst(9).dropLast(13)) == name)
        }
    }

    /// As the two formats define it: a backslash and `n`, `"` or a backslash.
    private func unescaped(_ text: Substring) -> String? {
        var (found, isEscaped) = (String.UnicodeScalarView(), false)
        for scalar in text.unicodeScalars {
            if isEscaped {
                guard ["n", "\"", "\\"].contains(scalar) else { return nil }
                found.append(scalar == "n" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                return nil
            } else {
                found.append(scalar)
            }
        }
        return isEscaped ? nil : String(found)
    }

    @Test(
        "numbers are whole where they can be, and never what a parser cannot read",
        arguments: [
            (0.0, "0"), (-3, "-3"), (0.25, "0.25"), (1e-9, "1e-09"), (1_795_722_000.5, "1795722000.5"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ])
    func numbers(value: Double, written: String) {
        #expect(text(.prometheusText) { $0.sample(.none, value) } == " \(written)\n")
    }

    @Test(
        "a histogram's buckets add up: what is as long as a bound is in its bucket, what is longer than all in the last"
    )
    func buckets() {
        var histogram = DurationHistogram(.wakes)
        for span in [-5, 50, 51, 100, 2_000_000] as [Int64] { histogram.record(.microseconds(span)) }
        let lines = text(.openMetrics) { $0.sample(MetricLabels("a", "b"), histogram) }.split(separator: "\n")
        #expect(lines.count == DurationHistogram.Scale.wakes.bounds.count + 4)
        let first = ["_bucket{a=\"b\",le=\"5e-05\"} 2", "_bucket{a=\"b\",le=\"0.0001\"} 4"]
        #expect(lines.prefix(2).map(String.init) == first)
        #expect(
            lines.suffix(4).map(String.init) == [
                "_bucket{a=\"b\",le=\"+Inf\"} 5", "_sum{a=\"b\"} 2.000201", "_count{a=\"b\"} 5", "# EOF",
            ])
        #expect(lines.contains("_bucket{a=\"b\",le=\"1.0\"} 4"))
    }

    @Test(
        "who asks for nothing gets OpenMetrics, and the text format is for those who prefer it",
        arguments: [
            ("", ExpositionFormat.openMetrics), ("*/*", .openMetrics), ("text/plain", .prometheusText),
            ("text/plain;version=0.0.4;q=0.5, */*;q=0.1", .prometheusText), ("text/*", .prometheusText),
            ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", .openMetrics),
            ("application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.3", .prometheusText),
            ("application/openmetrics-text; version=1.0.0; q=0.1, text/plain; q=0.9", .prometheusText),
            ("text/plain;q=0.2,*/*", .openMetrics), ("TEXT/Plain ; Q=1.0", .prometheusText),
            ("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", .openMetrics),
            ("text/plain;q=nan,;;,=,/", .openMetrics),
        ])
    func negotiation(accept: String, format: ExpositionFormat) {
        #expect(ExpositionFormat(accepting: accept) == format)
    }
}

@Suite("The metrics that are served")
struct MetricsPageTests {
    private func device(_ number: Int, alias: String? = nil) -> MetricsSnapshot.DeviceFacts {
        .init(
            alias: alias ?? "strap-\(number)", uri: "/bluetooth/C0:F1:F2:F3:F4:\(number)", mode: "bluetooth-central",
            profile: "heart-rate-monitor", link: number % 2 == 0 ? .connected : .disconnected,
            lastData: WallTime(microseconds: 1_795_722_000_123_456), counts: DeviceCounts())
    }

    private func snapshot(
        _ devices: [MetricsSnapshot.DeviceFacts], warnings: [BridgeWarning] = []
    ) -> MetricsSnapshot {
        let standing = HandlerStatus(
            handler: HandlerID(rawValue: 1), state: .suspended, why: "", epoch: Epoch(rawValue: 1), queuedCount: 2,
            queuedBytes: 300, openCount: 1, strikes: 1, crashes: 0, heldFor: .seconds(3), isAttached: false,
            launches: 1, thaws: 7, awake: .milliseconds(250), lastEnd: nil, outcomes: Outcomes())
        return MetricsSnapshot(
            bridge: .init(
                version: "1.2.3", startTime: WallTime(microseconds: 1_795_722_000_100_000), processorTime: .seconds(2),
                residentBytes: 9_000_000, suspendsByCgroup: true, warnings: warnings,
                stays: [
                    LoopStayReport(cause: "turn", longest: .milliseconds(4), overPatience: 0)
                ]),
            journal: .init(
                stores: [.init(name: "run", bytes: 4_096, isHealthy: true)], limitBytes: 1 << 30, commits: 12),
            events: [.init(mode: "bluetooth-central", byKind: DeviceCounts().byKind, unwatched: 0)], gaps: [.link: 2],
            devices: devices,
            adapters: [AdapterStatus(address: "00:1A:7D:DA:71:13", isPowered: true, links: 3, mostLinks: 5)],
            handlers: [
                .init(
                    name: "hr", standing: standing, counts: HandlerCounts(), delivered: 9, budget: .seconds(10),
                    processorTime: .milliseconds(41), deadLetters: 1, scheduled: 2)
            ])
    }

    private func lines(_ format: ExpositionFormat, _ devices: [MetricsSnapshot.DeviceFacts]) -> [Substring] {
        String(decoding: MetricsPage.text(of: snapshot(devices), in: format), as: UTF8.self).split(separator: "\n")
    }

    @Test(
        "every metric is told once, in its order, with at most the samples of its own name",
        arguments: ExpositionFormat.allCases)
    func order(format: ExpositionFormat) throws {
        let families = MetricFamily.all.map { format == .openMetrics ? $0.name : $0.sampleName }
        let told = lines(format, [device(1)]).filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(told.map(String.init) == families && Set(families).count == families.count)
        var family: Substring = ""
        for line in lines(format, [device(1)]) where line != "# EOF" {
            if line.hasPrefix("#") { family = line.split(separator: " ")[2] } else { #expect(line.hasPrefix(family)) }
        }
    }

    @Test("names are of the daemon or of its process, end with their unit, and leave the suffixes to their kind")
    func names() {
        for family in MetricFamily.all {
            let isOwn = family.name.hasPrefix("wakebridge_") || family.name.hasPrefix("process_")
            #expect(isOwn && family.name.allSatisfy { "abcdefghijklmnopqrstuvwxyz_".contains($0) }, "\(family.name)")
            for suffix in ["total", "info", "bucket", "sum", "count", "created", "ms"] {
                #expect(!family.name.hasSuffix("_\(suffix)"), "\(family.name)")
            }
            #expect(family.kind != .histogram || family.unit == .seconds)
            #expect(family.help.hasSuffix(".") && family.help.count < 100)
        }
    }

    @Test("of two devices with one alias the second goes by its source, for two samples may not have the same labels")
    func twins() {
        let lines = lines(.openMetrics, [device(1, alias: "strap"), device(2, alias: "strap")])
        #expect(lines.contains("wakebridge_device_events_total{device=\"strap\"} 0"))
        #expect(lines.contains("wakebridge_device_events_total{device=\"/bluetooth/C0:F1:F2:F3:F4:2\"} 0"))
        let samples = lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ")[0] }
        #expect(Set(samples).count == samples.count)
    }

    @Test("warnings are counted in all and for each code, and a code without a warning is 0 so that alerts see it end")
    func warnings() {
        let codes: [BridgeWarning.Code] = [.mqttFault, .manifestRefused, .manifestRefused]
        let warnings = codes.map { BridgeWarning("x", code: $0, why: "y", advice: "z") }
        let page = MetricsPage.text(of: snapshot([], warnings: warnings), in: .openMetrics)
        let lines = String(decoding: page, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("wakebridge_warnings 3"))
        let byCode = lines.filter { $0.hasPrefix("wakebridge_warnings_by_code{") }
        #expect(byCode.count == BridgeWarning.Code.allCases.count)
        for sample in ["manifest-refused\"} 2", "mqtt-fault\"} 1", "web-key\"} 0"] {
            #expect(byCode.contains("wakebridge_warnings_by_code{code=\"\(sample)"), "\(byCode)")
        }
    }

    @Test("a thousand devices make a scrape of some five thousand lines; how long it takes is printed")
    func thousandDevices() {
        let devices = (0..<1_000).map { device($0) }
        let snapshot = snapshot(devices)
        let begun = SystemClock.monotonic()
        let text = MetricsPage.text(of: snapshot, in: .openMetrics)
        let span = SystemClock.monotonic() - begun
        print("a scrape of 1,000 devices has \(text.count / 1_024) KiB and is written in \(span.wholeMilliseconds) ms")
        #expect(text.count < 1 << 20)
    }
}
