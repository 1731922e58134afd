// Notifies people of alarms: runs the command that the settings name, and the tool for a topic of ntfy.
import Glibc
import WakeAPI
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// A few at a time, each for a few seconds; nothing waits for them. It must live as long as the loop runs.
final class AlertPrograms: AlertHook {
    fileprivate enum Means: Hashable {
        case command([String])
        case ntfy(address: String)
    }

    fileprivate struct Alert {
        var text: String
        var alarm: String
        var handler: String
        var means: Means
    }

    private struct Running {
        var alert: Alert
        var program: SideProgram
    }

    private let bridge: Bridge
    private var means: [Means] = []
    /// The user that they run as; nil for the daemon's own. Looked up once, since the user database may be slow.
    private var account: Result<Account?, SystemError> = .success(nil)
    private var waiting: [Alert] = []
    private var running: [Running] = []
    private var count = 0
    private let log = Log("alerts")

    static let mostAtOnce = 4
    static let patience = TimeSpan.seconds(10)
    /// Past this number the oldest are dropped.
    private static let mostWaiting = 64

    init(_ settings: BridgeSettings.Alerts, of bridge: Bridge) {
        self.bridge = bridge
        adopt(settings)
    }

    var isSet: Bool { !means.isEmpty }

    /// For alerts from now on.
    func adopt(_ settings: BridgeSettings.Alerts) {
        means =
            (settings.command.isEmpty ? [] : [.command(settings.command)])
            + (settings.ntfy.map { [.ntfy(address: $0)] } ?? [])
        do throws(SystemError) {
            account = .success(try settings.user.map { name throws(SystemError) in try Account(named: name) })
        } catch {
            account = .failure(error)
        }
        if geteuid() == 0, settings.user == nil, !settings.command.isEmpty {
            log.notice(
                "alerts.command runs as root with texts that handlers choose; name another user in alerts.user of wakebridge.json5"
            )
        }
    }

    func alert(_ text: String, of alarm: String, for handler: String) {
        waiting += means.map { Alert(text: text, alarm: alarm, handler: handler, means: $0) }
        while waiting.count > Self.mostWaiting {
            let dropped = waiting.removeFirst()
            log.error(
                "\(dropped.words) is not told: \(Self.mostWaiting) others wait; what alerts names must end sooner")
        }
        beginWaiting()
    }

    /// Ends what runs: the daemon ends.
    func close() {
        waiting = []
        for one in running { one.program.abandon() }
        running = []
    }

    private func beginWaiting() {
        while running.count < Self.mostAtOnce, !waiting.isEmpty {
            let alert = waiting.removeFirst()
            do throws(SystemError) { try begin(alert) } catch {
                log.error("\(alert.words) is not told: \(error.description); \(alert.advice)")
            }
        }
    }

    private func begin(_ alert: Alert) throws(SystemError) {
        count += 1
        let (request, input) = try alert.request(as: try account.get())
        // No handler's id begins with a hyphen.
        let program = try bridge.begin(request, named: "-alert-\(count)", input: input, patience: Self.patience)
        do throws(SystemError) { try program.listen(on: bridge.loop, of: self) { $0.attend() } } catch {
            program.abandon()
            throw error
        }
        running.append(Running(alert: alert, program: program))
    }

    private func attend() {
        var left: [Running] = []
        for one in running {
            if let ending = one.program.advance() { conclude(one, ending) } else { left.append(one) }
        }
        running = left
        beginWaiting()
    }

    private func conclude(_ one: Running, _ ending: SideProgram.Ending) {
        let said = one.program.lastLine.map { ", and said last: \($0)" } ?? ""
        let alert = one.alert
        switch ending {
        case .exited(code: 0): log.info("\(alert.words) is told by \(alert.program)")
        case .exited(let code): fail(alert, "\(alert.program) ended with status \(code)\(said)")
        case .signalled(let number): fail(alert, "\(alert.program) was ended by signal \(number)\(said)")
        case .neverRan(let error): fail(alert, error.description)
        case .overdue: fail(alert, "\(alert.program) took longer than \(Self.patience.spoken) and was killed\(said)")
        }
    }

    private func fail(_ alert: Alert, _ why: String) {
        log.error("\(alert.words) may not have been told: \(why); \(alert.advice)")
    }
}

extension AlertPrograms.Alert {
    var words: String { "alarm \(alarm) of \(handler)" }

    /// For sentences; an address of ntfy may be a secret.
    var program: String {
        switch means {
        case .command(let words): words.first ?? ""
        case .ntfy: "wakebridge send-alert"
        }
    }

    var advice: String {
        switch means {
        case .command: "try by hand what alerts.command in wakebridge.json5 names"
        case .ntfy: "correct alerts.ntfy in wakebridge.json5, or try: echo test | wakebridge send-alert ADDRESS"
        }
    }

    func request(as account: Account?) throws(SystemError) -> (SpawnRequest, input: [UInt8]) {
        var variables = BridgeTool.environment
        if let account {
            variables.removeAll { ["HOME", "USER", "LOGNAME"].contains($0.name) }
            variables += [("HOME", account.home), ("USER", account.name), ("LOGNAME", account.name)]
        }
        variables += [
            ("WAKEBRIDGE_HANDLER", handler), ("WAKEBRIDGE_ALARM", alarm), ("WAKEBRIDGE_TEXT", text),
        ]
        switch means {
        case .command(let words):
            let request = SpawnRequest(
                executable: try Executable.find(words.first ?? ""), arguments: words + [text.asHarmlessArgument],
                environment: variables, directory: "/", account: account)
            return (request, Array((text + "\n").utf8))
        case .ntfy(let address):
            // Not as an argument: those are seen by every user of the machine.
            variables.append(("WAKEBRIDGE_ALERT_URL", address))
            let tool = try BridgeTool.path()
            let request = SpawnRequest(
                executable: tool, arguments: [tool, "send-alert"], environment: variables, directory: "/",
                account: account)
            return (request, Array(text.utf8))
        }
    }
}

extension String {
    /// A handler chose the text, and the program may run as root. It could take the text for an option, for a file of
    /// options (`@list`) or, like `wall`, for a file's name. A space in front prevents that.
    var asHarmlessArgument: String {
        let isSentence = contains(" ") && !contains("/") && first.map { $0.isLetter || $0.isNumber } ?? true
        return isSentence ? self : " " + self
    }
}
