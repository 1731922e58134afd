// Why a verb failed: the sentence for people, the code for programs, and the exit status for scripts.
import WakeModel

public enum Complaint: Error, Hashable {
    /// The command line was wrong.
    case usage(String)
    /// The command line was right and the verb failed.
    case failure(String)
    /// No daemon listens at the control socket.
    case notRunning(String)
    /// This user may not do it.
    case notPermitted(String)
    /// The named thing is not there, or contradicts what is there.
    case notFound(String)
    /// The daemon refused, in its own words.
    case refused(DaemonRefusal)

    /// The tool's exit status.
    public var exitStatus: Int32 {
        switch self {
        case .failure: 1
        case .usage: 2
        case .notRunning: 3
        case .notPermitted: 4
        case .notFound: 5
        case .refused(let refusal): refusal.exitStatus
        }
    }

    /// The failure and the remedy, as one sentence.
    public var sentence: String {
        switch self {
        case .usage(let sentence), .failure(let sentence), .notRunning(let sentence), .notPermitted(let sentence),
            .notFound(let sentence):
            sentence
        case .refused(let refusal): refusal.sentence
        }
    }

    /// A wrong command line is never worked around.
    public var isUsage: Bool { if case .usage = self { true } else { false } }

    /// The same kind of complaint with another sentence.
    public func saying(_ sentence: String) -> Complaint {
        switch self {
        case .usage: .usage(sentence)
        case .failure: .failure(sentence)
        case .notRunning: .notRunning(sentence)
        case .notPermitted: .notPermitted(sentence)
        case .notFound: .notFound(sentence)
        case .refused(let refusal): .refused(DaemonRefusal(refusal.status, refusal.code, sentence, advice: ""))
        }
    }

    /// `{"error":{"code","message","advice"}}` and a line end, as the control API writes it.
    /// - Parameter help: the advice where the command line was wrong.
    public func json(help: String) -> [UInt8] {
        JSONWriter.line { writer in
            writer.object("error") { error in
                error.field("code", code)
                error.field("message", message)
                error.field("advice", isUsage ? help : advice)
            }
        }
    }

    private var code: String {
        switch self {
        case .usage: "usage"
        case .failure: "failed"
        case .notRunning: "not-running"
        case .notPermitted: "not-permitted"
        case .notFound: "not-found"
        case .refused(let refusal): refusal.code
        }
    }

    private var message: String {
        if case .refused(let refusal) = self { return refusal.message }
        if isUsage { return sentence }
        return adviceStart.map { String(sentence[..<$0]) } ?? sentence
    }

    /// The remedy comes after the sentence's last semicolon.
    private var advice: String {
        if case .refused(let refusal) = self { return refusal.advice }
        return adviceStart.map { String(sentence[sentence.index($0, offsetBy: 2)...]) } ?? ""
    }

    private var adviceStart: String.Index? {
        sentence.indices.last { sentence[$0...].hasPrefix("; ") }
    }
}

/// An error of the control API.
public struct DaemonRefusal: Hashable, Sendable {
    /// The status of HTTP.
    public let status: Int
    public let code: String
    public let message: String
    public let advice: String

    public init(_ status: Int, _ code: String, _ message: String, advice: String) {
        (self.status, self.code, self.message, self.advice) = (status, code, message, advice)
    }

    var exitStatus: Int32 {
        switch status {
        case 403: 4
        case 404, 409: 5
        default: 1
        }
    }

    var sentence: String { advice.isEmpty ? message : "\(message); \(advice)" }
}
