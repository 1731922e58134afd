// The daemon's log: one line for each fact on stderr, with a topic and a level. Writing never blocks.
import CLinux
import Glibc
import Synchronization
import WakeModel

public enum LogLevel: Int32, Comparable, Sendable {
    // Syslog's numbers, as the journal reads them.
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    /// Lower numbers are more severe.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    init?(named name: String) {
        switch name {
        case "error": self = .error
        case "warning": self = .warning
        case "notice": self = .notice
        case "info": self = .info
        case "debug": self = .debug
        default: return nil
        }
    }
}

/// The log of one topic: `bluetooth: adapter hci0 vanished`.
public struct Log: Sendable {
    public let topic: String

    public init(_ topic: String) { self.topic = topic }

    /// Less severe lines are not even built. Set at the start from `WAKEBRIDGE_LOG`; `info` without it.
    public static let threshold: LogLevel = {
        Environment.value(of: "WAKEBRIDGE_LOG").flatMap(LogLevel.init(named:)) ?? .info
    }()

    public func error(_ message: @autoclosure () -> String) { write(.error, message) }
    public func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    public func notice(_ message: @autoclosure () -> String) { write(.notice, message) }
    public func info(_ message: @autoclosure () -> String) { write(.info, message) }
    public func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    public func write(_ level: LogLevel, _ message: () -> String) {
        guard level <= Log.threshold else { return }
        LogOutput.standardError.write(level, topic: topic, message: message())
    }
}

/// The destination of lines: the journal needs a priority in front, a file needs a time, a terminal neither.
struct LogOutput: Sendable {
    enum Style: Sendable { case journal, terminal, file }

    let raw: Int32
    let style: Style

    static let standardError = LogOutput(raw: 2, style: detectStyle(2))

    /// Lines that could not be written; the next line that can be reports their number.
    private static let dropped = Atomic<Int>(0)

    func write(_ level: LogLevel, topic: String, message: String) {
        let missed = LogOutput.dropped.exchange(0, ordering: .relaxed)
        if missed > 0, !put(format(.warning, topic: "log", message: "\(missed) lines found no room and were dropped")) {
            LogOutput.dropped.add(missed + 1, ordering: .relaxed)
        } else if !put(format(level, topic: topic, message: message)) {
            LogOutput.dropped.add(1, ordering: .relaxed)
        }
    }

    /// Makes one line and replaces control characters and those that turn the direction of writing. So text of a device
    /// or a handler can neither forge a second line nor look like another.
    func format(_ level: LogLevel, topic: String, message: String) -> [UInt8] {
        var line: [UInt8] = []
        switch style {
        case .journal: line.append(contentsOf: "<\(level.rawValue)>".utf8)
        case .terminal: break
        case .file: line.append(contentsOf: "\(SystemClock.wall().rfc3339) ".utf8)
        }
        let text = "\(topic): \(message)".replacingMisleading(with: " ")
        line.append(contentsOf: text.utf8.prefix(3_900))
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Writes the whole line if it can be written at once. A pipe that polls writable accepts PIPE_BUF bytes, which is more
    /// than a line ever has; a socket gets a flag not to wait.
    private func put(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { clinux_write_without_waiting(raw, $0.baseAddress, $0.count) } >= 0
    }

    private static func detectStyle(_ raw: Int32) -> Style {
        if isatty(raw) == 1 { return .terminal }
        guard let stream = Environment.value(of: "JOURNAL_STREAM") else { return .file }
        var status = stat()
        guard fstat(raw, &status) == 0 else { return .file }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .file
    }
}
