// docs/how-to/schedule-work.md, followed to the letter with a daemon of its own: files are saved, commands run, outputs compared.
import Glibc
import TestBench
import Testing
import WakeSystem

/// One block of the page: a file, commands, or what the commands before it print.
private enum Step {
    case file(path: String, text: String)
    case commands([String], shown: [String]?)

    /// A file names itself in a comment within its first two lines.
    static func all(of page: Document) -> [Step] {
        var steps: [Step] = []
        for block in page.blocks {
            if let path = path(in: block) {
                steps.append(.file(path: path, text: block.text + "\n"))
            } else if block.language == "text", case .commands(let commands, _)? = steps.popLast() {
                steps.append(.commands(commands, shown: block.lines.map(String.init)))
            } else {
                steps.append(.commands(block.lines.map(String.init), shown: nil))
            }
        }
        return steps
    }

    private static func path(in block: Document.Block) -> String? {
        let comments = block.lines.prefix(2).filter { $0.hasPrefix("# /") || $0.hasPrefix("// /") }
        return comments.first?.split(separator: " ").last.map(String.init)
    }
}

@Suite("The page about scheduled work", .serialized, .timeLimit(.minutes(4)))
struct SchedulePageTests {
    private let page: Document
    private let daemon: RunningDaemon
    /// These change nothing, and are asked until they print what is shown.
    private static let reading = ["logs", "pending", "why", "cat"]

    init() throws {
        page = try Document("docs/how-to/schedule-work.md")
        daemon = try RunningDaemon()
        try daemon.stepTime()
        // The handlers of other users read their programs there.
        try Directory.create("\(daemon.folder)/my", mode: 0o755)
    }

    /// With the places, users and times of this test in place of those that a reader has.
    private func here(_ text: String) -> String {
        text.replacing("/opt/my", with: "\(daemon.folder)/my")
            .replacing("/etc/wakebridge", with: daemon.configuration)
            .replacing("/var/tmp/told", with: "\(daemon.folder)/told")
            .replacing("\"auto\"", with: "\"\(me)\"")
            .replacing("--for 1d", with: "--for 1s")
            .replacing("sleep 5", with: "read -r word <'\(work)'")
    }

    /// Where the page's program sleeps for a part of its work, it waits here for a line.
    private var work: String { "\(daemon.folder)/work" }

    private func run(_ command: String) throws -> (exit: Int32, output: String, talk: String) {
        let tool = """
            wakebridge() {
                case $1 in replay) '\(Built.tool)' "$@" ;; *) '\(Built.tool)' --runtime '\(daemon.runtime)' "$@" ;; esac
            }
            systemctl() { :; }

            """
        return try Child(["sh", "-c", tool + here(command.replacing("sudo ", with: ""))]).finish()
    }

    private func change(_ command: String) throws -> String {
        let (exit, output, talk) = try run(command)
        #expect(exit == 0, "\(command): \(talk)")
        return output
    }

    private func isReading(_ command: String) -> Bool {
        command.split(separator: " ").prefix(3).contains { Self.reading.contains(String($0)) }
    }

    /// Without what is another at each run: times of day, days, numbers of events and the width of columns.
    private func plain(_ line: some StringProtocol) -> String {
        let words = line.split(separator: " ").joined(separator: " ")
        return words.replacing(/\b(tomorrow |\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d)?/, with: "TIME")
            .replacing(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) TIME [A-Z]+/, with: "HOUR")
            .replacing(/event \d+/, with: "event N")
    }

    /// A line with an ellipsis stands for any lines.
    private func isShown(_ printed: ArraySlice<String>, as shown: ArraySlice<String>) -> Bool {
        guard let first = shown.first else { return printed.isEmpty }
        guard first == "…" else {
            return printed.first == first && isShown(printed.dropFirst(), as: shown.dropFirst())
        }
        return (printed.startIndex...printed.endIndex).contains { isShown(printed[$0...], as: shown.dropFirst()) }
    }

    /// The daemon sees a manifest by itself, and a reader is slower than that; here it is told, and has read it when it answers.
    private func save(_ text: String, to path: String) throws {
        try File.replace(here(path), with: Array(here(text).utf8), mode: 0o644)
        if path.contains("/handlers.d/") { #expect(try daemon.tool("reload").exit == 0, "\(path)") }
    }

    private func perform(_ commands: [String], shown: [String]?) throws {
        let changed = try commands.filter { !isReading($0) }.map(change).joined()
        guard let shown else { return }
        let wanted = shown.map(plain)
        var printed: [String] = []
        let isPrinted = try daemon.wait(60) {
            let read = try commands.filter(isReading).map { try run($0).output }.joined()
            printed = (changed + read).split(separator: "\n").map(plain)
            return isShown(printed[...], as: wanted[...])
        }
        #expect(isPrinted, "\(commands) should print\n\(wanted)\nand printed\n\(printed)\n\(daemon.log)")
    }

    @Test(
        "a reader who follows the page about scheduled work sees at each command what the page shows",
        .enabled(if: ScheduledWakeTests.runsCalendar, "the clock of this machine is not kept, and it came up just now"))
    func followed() throws {
        let settings = try #require(page.block("json5", with: "alerts: {"))
        try daemon.write(here(settings.text), to: "config/wakebridge.json5")
        #expect(mkfifo(work, 0o666) == 0 && chmod(work, 0o666) == 0)
        let parts = FileDescriptor(owning: open(work, O_RDWR | O_CLOEXEC))
        try daemon.start("--no-bluetooth", "--no-accessories")
        for step in Step.all(of: page) {
            switch step {
            case .file(let path, let text): try save(text, to: path)
            case .commands(let commands, let shown):
                if shown?.last?.hasSuffix("backed up") == true { _ = try parts.write(Array("1\n2\n3\n".utf8)) }
                try perform(commands, shown: shown)
            }
        }
    }
}
