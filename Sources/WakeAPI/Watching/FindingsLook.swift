// The doctor's findings for clients: the tool looks for them, and no more often than twice a minute, however many ask.
import WakeControl
import WakeLoop
import WakeModel
import WakeSystem

final class FindingsLook {
    private let programs: ToolPrograms
    private var tool: ToolRun?
    private var findings: JSONValue?
    private var waiting: [(ControlResponse) -> Void] = []
    private var latest: (time: Instant, answer: ControlResponse)?

    private static let least = TimeSpan.seconds(30)
    private static let patience = TimeSpan.seconds(60)

    init(_ programs: ToolPrograms) { self.programs = programs }

    func answer() -> ControlResponse {
        if let latest, SystemClock.monotonic() - latest.time < Self.least { return latest.answer }
        return .later { [self] respond in
            waiting.append(respond)
            begin()
        }
    }

    private func begin() {
        guard tool == nil else { return }
        findings = nil
        do throws(ControlRefusal) {
            tool = try programs.begin(["doctor", "--json"], patience: Self.patience, of: self) { $0.attend() }
        } catch {
            conclude(.refusal(error))
        }
    }

    private func attend() {
        for news in tool?.advance() ?? [] {
            switch news {
            case .said(_, let json): if json["findings"] != nil { findings = json }
            case .ended(let refusal):
                tool = nil
                // It ends with 1 where it finds something.
                if let findings {
                    conclude(Self.answer(findings))
                } else {
                    conclude(.refusal(refusal ?? .tool("doctor", "said nothing")))
                }
            }
        }
    }

    private func conclude(_ answer: ControlResponse) {
        latest = (SystemClock.monotonic(), answer)
        let clients = waiting
        waiting = []
        for respond in clients { respond(answer) }
    }

    func close() {
        tool?.abandon()
        tool = nil
    }

    /// Without what is well.
    private static func answer(_ report: JSONValue) -> ControlResponse {
        let found = (report["findings"]?.array ?? []).filter { $0["severity"]?.string != "ok" }
        return .object { writer in
            writer.key("checked")
            writer.moment(SystemClock.wall())
            writer.objects("findings", found) { writer, finding in
                writer.field("code", finding["code"]?.string)
                writer.field("severity", finding["severity"]?.string)
                writer.field("level", olderLevel(finding["severity"]?.string ?? ""))
                writer.field("what", finding["what"]?.string)
                writer.field("why", finding["why"]?.string)
                writer.field("fix", finding["command"]?.string ?? finding["advice"]?.string)
            }
        }
    }

    /// The word of `level`, which clients of before know.
    private static func olderLevel(_ severity: String) -> String { severity == "note" ? "hint" : severity }
}
