// wakebridge report: one text for a bug report: versions, findings, status, devices and settings, without secrets.
import WakeArguments
import WakeDaemon
import WakeDoctor
import WakeModel
import WakeSystem

extension Verb {
    static var report: Verb {
        Verb(
            name: "report", summary: "a text for a bug report: versions, findings, status, settings; no secrets",
            synopsis: ["[--output FILE] [--logs] [--json]"],
            detail: """
                Of addresses the first three bytes stay, which name the maker; serial numbers and settings that may be
                secrets are hidden. Read it before you publish it. Works without a daemon, and says then what is missing.
                """,
            examples: ["sudo wakebridge report -o report.txt"],
            flags: [
                Flag("output", short: "o", value: "FILE", "where the report goes; standard output if not given"),
                Flag("logs", "also the latest 200 lines of each handler's log, which may say anything"),
                Flag("json", short: "j", "print the report as one JSON document"),
            ] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            let report = BugReport(words)
            let bytes = words.has("json") ? report.json : Array(report.text.utf8)
            guard let path = words.value("output") else {
                Console.print(bytes)
                return 0
            }
            do throws(SystemError) { try File.replacePlain(path, with: bytes) } catch {
                let sentence = "cannot write the report: \(error.description); name another place with --output"
                throw error.isOfRights ? .notPermitted(sentence) : .failure(sentence)
            }
            Console.note("the report is in \(path); read it before you publish it")
            return 0
        }
    }
}

private struct BugReport {
    private struct Section {
        let title: String
        var text: String
    }

    private let sections: [Section]
    /// The limit of each question: a daemon that hangs is what a report is written about.
    private static let patience = TimeSpan.seconds(5)

    init(_ words: ParsedArguments) {
        let status = Self.asked(words) { client throws(Complaint) in
            try client.ask(.get, "/v1/status", within: Self.patience).json
        }
        var found = [
            Section(title: "versions", text: Self.versions(status)),
            Section(title: "doctor", text: Findings(Facts(words, at: .own)).text),
            Section(title: "status", text: Self.text(of: status) { StatusText(status: $0).text }),
            Section(title: "devices", text: Self.devices(words)),
            Section(title: "settings", text: Self.settings()),
        ]
        if words.has("logs") {
            // A daemon that has not answered has no logs to give.
            for id in ((try? status.get()) ?? .null).list("handlers").map({ $0.text("id") }) {
                found.append(Section(title: "log of \(id)", text: Self.log(of: id, words)))
            }
        }
        if !words.has("logs") { for place in found.indices { found[place].text.hideLastWords() } }
        let mask = ReportMask(of: found.map(\.text))
        sections = found.map { Section(title: $0.title, text: mask.masked($0.text.withoutStyle)) }
    }

    var text: String { sections.map { "== \($0.title)\n\n\($0.text)" }.joined(separator: "\n") }

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.objects("sections", sections) { writer, section in
                writer.field("title", section.title)
                writer.field("text", section.text)
            }
        }
    }

    // MARK: Contents

    private static func asked<Answer>(
        _ words: ParsedArguments, _ question: (ControlClient) throws(Complaint) -> Answer
    ) -> Result<Answer, Complaint> {
        do throws(Complaint) { return .success(try question(words.client)) } catch { return .failure(error) }
    }

    private static func text<Answer>(of answer: Result<Answer, Complaint>, _ show: (Answer) -> String) -> String {
        switch answer {
        case .success(let found): show(found)
        case .failure(let complaint): "not known: \(complaint.sentence)\n"
        }
    }

    private static func versions(_ status: Result<JSONValue, Complaint>) -> String {
        let machine = MachineLook()
        let system = line(of: "/etc/os-release", after: "PRETTY_NAME=").filter { $0 != "\"" }
        let daemon: String
        switch status {
        case .success(let answer): daemon = (answer["bridge"] ?? .null).text("version")
        case .failure(.notRunning): daemon = "not running"
        case .failure: daemon = "not known"
        }
        return Table(rows: [
            ["wakebridge", Tool.version], ["wakebridged", daemon],
            ["bluetoothd", machine.bluetoothdVersion?.description ?? "-"],
            ["kernel", line(of: "/proc/sys/kernel/osrelease", after: "")], ["system", system],
        ]).text
    }

    /// The rest of the first line that begins so.
    private static func line(of file: String, after start: String) -> String {
        let text = (try? File.text(at: file)) ?? ""
        let found = text.split(separator: "\n").first { $0.hasPrefix(start) }
        return found.map { String($0.dropFirst(start.count)) } ?? "-"
    }

    private static func devices(_ words: ParsedArguments) -> String {
        let known = asked(words) { _ throws(Complaint) in try KnownDevices(words) }
        return text(of: known) { known in
            known.all.map { "\($0.details)\n" }.joined() + known.doubts.map { "in doubt: \($0.spoken)\n" }.joined()
        }
    }

    private static func settings() -> String {
        let path = BridgePlaces.mine.configuration + "/wakebridge.json5"
        guard File.exists(path) else { return "\(path) is not there, so every setting is as shipped\n" }
        do throws(SystemError) {
            let bytes = try File.bytes(at: path, limit: 1 << 20)
            // The fault would quote the file, which may hold a secret.
            guard let settings = try? JSONValue(json5: bytes) else {
                return "\(path) is no JSON5; see what is wrong with: wakebridge check \(path.asShellWord)\n"
            }
            return settings.settingLines().map { $0.printable + "\n" }.joined()
        } catch {
            return "\(path) cannot be read: \(error.description)\n"
        }
    }

    private static func log(of handler: String, _ words: ParsedArguments) -> String {
        var lines = ""
        let path = "/v1/logs?lines=200&follow=false&handler=\(handler.percentEncoded)"
        let end = SystemClock.monotonic() + patience
        let pace = { () -> TimeSpan? in
            let left = end - SystemClock.monotonic()
            return left > .zero ? left : nil
        }
        let ending = asked(words) { client throws(Complaint) in
            try client.follow(.get, path, pace: pace) { lines += LogText.text($0, unlessOf: handler) }
        }
        return text(of: ending) { $0 == .closed ? lines : lines + "not whole: the daemon gave no more in time\n" }
    }
}
