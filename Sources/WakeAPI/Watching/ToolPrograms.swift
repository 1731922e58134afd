// Runs a verb of the tool beside the daemon: bounded in time and in output, and read as lines of JSON.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Starts them. Their owners keep them, and look at each when it may have news.
final class ToolPrograms {
    private let bridge: Bridge
    private let controlSocket: String
    private var count = 0

    init(of bridge: Bridge, controlSocket: String) { (self.bridge, self.controlSocket) = (bridge, controlSocket) }

    /// Calls `body` when ``ToolRun/advance()`` may have news.
    func begin<Owner: AnyObject>(
        _ words: [String], patience: TimeSpan, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(ControlRefusal) -> ToolRun {
        let verb = words.first ?? ""
        count += 1
        do throws(SystemError) {
            let tool = try BridgeTool.path()
            let request = SpawnRequest(
                executable: tool, arguments: [tool, "--socket", controlSocket] + words,
                environment: BridgeTool.environment, directory: "/")
            // No handler's id begins with a hyphen.
            let program = try bridge.begin(
                request, named: "-tool-\(count)", input: [], patience: patience,
                talk: .dialogue(longestLine: ToolRun.longestLine))
            do throws(SystemError) { try program.listen(on: bridge.loop, of: owner, body) } catch {
                program.abandon()
                throw error
            }
            return ToolRun(program, verb)
        } catch {
            throw .tool(verb, "could not be run: \(error.description)")
        }
    }
}

/// A run of the tool.
final class ToolRun {
    enum News {
        /// A line as it came, and read; null where it is no JSON.
        case said([UInt8], JSONValue)
        /// It has ended; with a refusal where it failed.
        case ended(ControlRefusal?)
    }

    static let longestLine = 1 << 20
    private static let mostBytes = 16 << 20

    private let program: SideProgram
    private let verb: String
    private var byteCount = 0
    private var failure: ControlRefusal?

    fileprivate init(_ program: SideProgram, _ verb: String) { (self.program, self.verb) = (program, verb) }

    /// Returns its output, and at last how it ended.
    func advance() -> [News] {
        let ending = program.advance()
        var news: [News] = []
        for said in program.removeSaid() {
            byteCount += said.line.utf8.count
            let bytes = Array(said.line.utf8)
            let json = (try? JSONValue(parsing: bytes)) ?? .null
            if said.isError, let refusal = ControlRefusal(told: json) {
                failure = refusal
            } else {
                news.append(.said(bytes, json))
            }
        }
        if let ending { return news + [.ended(refusal(for: ending))] }
        guard byteCount > Self.mostBytes else { return news }
        program.abandon()
        return news + [.ended(.tool(verb, "said more than \(Self.mostBytes >> 20) MiB, and was ended"))]
    }

    func say(_ line: [UInt8]) { program.say(line) }

    /// Asks it to end in order.
    func interrupt() { program.interrupt() }

    func abandon() { program.abandon() }

    private func refusal(for ending: SideProgram.Ending) -> ControlRefusal? {
        if let failure { return failure }
        let last = program.lastLine.map { ", and said last: \($0)" } ?? ""
        return switch ending {
        case .exited(code: 0): nil
        case .exited(let code): .tool(verb, "ended with status \(code)\(last)")
        case .signalled(let number): .tool(verb, "was ended by signal \(number)\(last)")
        case .neverRan(let error): .tool(verb, "could not be run: \(error.description)")
        case .overdue: .tool(verb, "took too long and was killed\(last)")
        }
    }
}

extension ControlRefusal {
    static func tool(_ verb: String, _ what: String) -> ControlRefusal {
        ControlRefusal(
            .failed, code: "failed", message: "wakebridge \(verb) \(what)",
            advice: "try it by hand: sudo wakebridge \(verb) --help")
    }

    /// The complaint of the tool in its JSON form; nil for another line.
    fileprivate init?(told json: JSONValue) {
        guard let error = json["error"], let message = error["message"]?.string else { return nil }
        self.init(
            .failed, code: error["code"]?.string ?? "failed", message: message,
            advice: error["advice"]?.string ?? "")
    }
}
