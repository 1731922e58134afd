// Requests and answers of the control socket, without types of HTTP or the library.
import WakeModel

/// One whole request: its body has arrived and is at most 64 KiB.
public struct ControlRequest: Hashable, Sendable {
    public struct Parameter: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// `GET` or `POST`, as sent.
    public var method: String
    /// The path without its slashes, percent-decoded: `["v1", "handlers", "strap", "why"]`.
    public var path: [String]
    /// In the order sent; a name without `=` has an empty value.
    public var query: [Parameter] = []
    public var body: [UInt8] = []
    /// The client's user, as the kernel reports it; the highest number where it does not.
    public var user: UInt32 = 0
    /// What the client may do; nil for what needs no role.
    public var role: AccessRole?
    /// The media types that the client wants; empty where it did not say.
    public var accept = ""

    public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

public enum ControlResponse {
    case json(status: Int, [UInt8])
    case text(status: Int, String)
    /// Status 200 with a body of this media type.
    case content(type: String, [UInt8])
    /// Stays open until either side closes it; `onOpen` is called once, before anything is sent.
    case stream(contentType: String, onOpen: (ControlStream) -> Void)
    case refusal(ControlRefusal)
    /// The answer comes later; the closure is called once, and calls its argument exactly once, at once or later.
    case later((@escaping (ControlResponse) -> Void) -> Void)

    /// Status 200 with what `write` writes, and a line end.
    public static func json(_ write: (inout JSONWriter) -> Void) -> ControlResponse {
        var writer = JSONWriter()
        write(&writer)
        writer.newline()
        return .json(status: 200, writer.bytes)
    }

    /// Status 200 and `{"done":true}`: the answer to an order without a result.
    public static var done: ControlResponse {
        .json { writer in writer.object { $0.field("done", true) } }
    }
}

/// Why a request is refused: a code for programs, a sentence for people, and what to do next.
public struct ControlRefusal: Error, Hashable, Sendable {
    public enum Status: Int, Hashable, Sendable {
        case badRequest = 400
        case unauthorized = 401
        case forbidden = 403
        case notFound = 404
        case wrongMethod = 405
        case conflict = 409
        case tooLarge = 413
        case failed = 500
    }

    public var status: Status
    /// Lower case with hyphens: `unknown-handler`.
    public var code: String
    public var message: String
    public var advice: String
    /// For ``Status/wrongMethod``: the methods that the path accepts.
    public var allowed: [String] = []

    public init(_ status: Status, code: String, message: String, advice: String, allowed: [String] = []) {
        self.status = status
        self.code = code
        self.message = message
        self.advice = advice
        self.allowed = allowed
    }

    /// Why a device was not read or written, in the words that handlers get, as one sentence.
    public init(_ fault: ProtocolFault, _ status: Status) {
        let message = fault.sentence.hasSuffix(".") ? String(fault.sentence.dropLast()) : fault.sentence
        let advice = fault.advice.hasSuffix(".") ? String(fault.advice.dropLast()) : fault.advice
        self.init(
            status, code: fault.code.rawValue, message: message,
            advice: advice.prefix(1).lowercased() + advice.dropFirst())
    }

    /// `{"error":{"code","message","advice"}}` and a line end.
    public var json: [UInt8] {
        JSONWriter.line { writer in
            writer.object("error") { error in
                error.field("code", code)
                error.field("message", message)
                error.field("advice", advice)
            }
        }
    }
}
