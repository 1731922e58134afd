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

extension JSONWriter {
    public mutating func field(_ name: StaticString, _ warnings: [BridgeWarning]) {
        objects(name, warnings) { writer, warning in
            writer.field("code", warning.code.rawValue)
            writer.field("what", warning.what)
            writer.field("why", warning.why)
            writer.field("advice", warning.advice)
            writer.field("handler", warning.handler)
            writer.key("refused")
            guard let refusal = warning.refusal else { return writer.null() }
            writer.object { $0.refusal(refusal) }
        }
    }

    private mutating func refusal(_ refusal: RefusedFile) {
        field("file", refusal.file)
        field("line", refusal.line)
        field("fault", refusal.fault)
        field("more", refusal.more)
        field("former_in_force", refusal.isFormerInForce)
    }
}
