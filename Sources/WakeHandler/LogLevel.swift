// How much a line of the log matters, and how a session writes it.

/// How much a line of the log matters, the least first.
public enum LogLevel: Int, CaseIterable, Comparable, Sendable, CustomStringConvertible {
    /// Details for finding a fault; not written unless ``BackgroundSession/logLevel`` is this.
    case debug
    /// Ordinary work.
    case info
    /// A possible fault that did not stop the work.
    case warning
    /// A fault that stopped some work.
    case error

    /// The word in the log: `debug`, `info`, `warning` or `error`.
    public var description: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// An ordinary line is written as it is; all others begin with their level.
    func line(_ text: String) -> String { self == .info ? text : "\(self): \(text)" }
}

extension BackgroundSession {
    /// Writes a line to stdout, and so to the log, at once. Text that `print` has buffered is lost if the process is ended.
    ///
    /// A line of another level than ``LogLevel/info`` begins with it: `warning: the disk is nearly full`.
    /// Lines below ``logLevel`` are left out.
    public func log(_ line: String, level: LogLevel = .info) {
        if level >= logLevel { write(logLine: level.line(line)) }
    }
}
