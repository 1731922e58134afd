// A condition of the bridge that needs a person, as every surface shows it until it is gone.
import WakeModel

/// A warning for the administrator: about something that the bridge accepts, refuses or cannot reach.
public struct BridgeWarning: Hashable, Sendable {
    /// The code of the doctor's finding about the same fault.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case handlerRights = "handler-rights"
        case handlerLacks = "handler-lacks"
        case manifestRefused = "manifest-refused"
        case profileRefused = "profile-refused"
        case settingsRefused = "settings-refused"
        case mqttFault = "mqtt-fault"
        case longMessages = "long-messages"
        case webKey = "web-key"
    }

    public var code: Code
    /// The fault, without a full stop.
    public var what: String
    /// The fault's consequence, without a full stop.
    public var why: String
    /// The remedy.
    public var advice: String
    /// The manifest's id; nil where it is about no one handler.
    public var handler: String?
    /// The file that is not taken as it is; nil for other warnings.
    public var refusal: RefusedFile?

    public init(
        _ what: String, code: Code = .handlerRights, of handler: String? = nil, why: String, advice: String,
        refusal: RefusedFile? = nil
    ) {
        (self.what, self.code, self.handler) = (what, code, handler)
        (self.why, self.advice, self.refusal) = (why, advice, refusal)
    }

    public var sentence: String { "\(what): \(why); \(advice)" }
}

/// A file of the configuration with faults, of which the first is shown.
public struct RefusedFile: Hashable, Sendable {
    public var file: String
    /// The line of the first fault; nil where the file cannot be read.
    public var line: Int?
    /// The first fault, a sentence.
    public var fault: String
    /// How many faults there are beside the first.
    public var more: Int
    /// Whether what was read from an earlier text of the file still counts.
    public var isFormerInForce: Bool

    public init(file: String, line: Int?, fault: String, more: Int, isFormerInForce: Bool) {
        (self.file, self.line, self.fault) = (file, line, fault)
        (self.more, self.isFormerInForce) = (more, isFormerInForce)
    }
}

extension BridgeWarning: Described {
    package static var reference: String? { "warning" }
    package static let shape = Shape<Self>([
        .always("code", \.code.rawValue), .always("what", \.what), .always("why", \.why), .always("advice", \.advice),
        .always("handler", \.handler, "the manifest's id; null where it is about no one handler"),
        .always("refused", \.refusal, "the file that is not taken as it is"),
    ])
}

extension RefusedFile: Described {
    package static let shape = Shape<Self>([
        .always("file", \.file), .always("line", \.line, "null where the file cannot be read"),
        .always("fault", \.fault, "the first fault"),
        .always("more", \.more, "how many faults there are beside the first"),
        .always("former_in_force", \.isFormerInForce, "whether an earlier text of the file still counts"),
    ])
}
