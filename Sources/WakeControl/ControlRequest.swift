// Requests and answers of the API, without types of HTTP or the library.
import WakeModel
import WakeSystem

/// A whole request: its body has arrived, and is no longer than its endpoint takes.
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
    /// In the order sent, with their names in lower case; without those that prove who the client is.
    public var headers: [Parameter] = []
    public var body: [UInt8] = []
    /// The user of the control socket, as the kernel reports it; the highest number for all others.
    public var user: UInt32 = 0
    /// Where the client is; nil on the control socket.
    public var address: NetworkAddress?
    /// The rights of the client; nil for addresses that need no token.
    public var access: Access?
    /// The name of the client's token.
    public var token: String?
    /// The media types that the client accepts; empty where it names none.
    public var accept = ""

    package init(
        method: String, path: [String], query: [Parameter] = [], headers: [Parameter] = [], body: [UInt8] = [],
        user: UInt32 = 0, address: NetworkAddress? = nil, access: Access? = nil, accept: String = ""
    ) {
        (self.method, self.path, self.query) = (method, path, query)
        (self.headers, self.body, self.user) = (headers, body, user)
        (self.address, self.access, self.accept) = (address, access, accept)
    }

    public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

public enum ControlResponse {
    case json(status: Int, [UInt8])
    case text(status: Int, String)
    case content(ControlContent)
    /// Stays open until either side closes it; `onOpen` is called once, before anything is sent.
    case stream(contentType: String, onOpen: (ControlStream) -> Void)
    case refusal(ControlRefusal)
    /// Comes a moment later, so that guessing takes long.
    case slowly(ControlRefusal)
    /// The answer comes later; the closure is called once, and calls its argument exactly once, at once or later.
    case later((@escaping (ControlResponse) -> Void) -> Void)

    /// Status 200 with what `write` writes, and a line end.
    public static func json(_ write: (inout JSONWriter) -> Void) -> ControlResponse {
        var writer = JSONWriter()
        write(&writer)
        writer.newline()
        return .json(status: 200, writer.bytes)
    }

    /// Status 200 and an object with the members that `write` writes.
    package static func object(_ write: (inout JSONWriter) -> Void) -> ControlResponse {
        .json(status: 200, JSONWriter.line(write))
    }

    /// Status 200 and bytes of this media type.
    public static func content(type: String, _ bytes: [UInt8]) -> ControlResponse {
        .content(ControlContent(type: type, bytes))
    }

    /// Status 200 and `{"done":true}`: the answer to an order without a result.
    public static var done: ControlResponse {
        .object { $0.field("done", true) }
    }
}

/// A whole answer, with headers of its own.
public struct ControlContent: Hashable, Sendable {
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public var status: Int
    public var type: String
    public var bytes: [UInt8]
    public var headers: [Header] = []

    public init(status: Int = 200, type: String, _ bytes: [UInt8]) {
        (self.status, self.type, self.bytes) = (status, type, bytes)
    }

    /// The same content, after which the connection closes.
    var closing: ControlContent {
        var content = self
        content.headers.append(Header("Connection", "close"))
        return content
    }

    static func json(_ members: (inout JSONWriter) -> Void) -> ControlContent {
        ControlContent(type: "application/json", JSONWriter.line(members))
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
        case tooMany = 429
        case failed = 500
    }

    public var status: Status
    /// Lower case with hyphens: `unknown-handler`.
    public var code: String
    public var message: String
    public var advice: String
    /// For ``Status/wrongMethod``: the methods that the path accepts.
    public var allowed: [String] = []
    /// For ``Status/tooMany``: how long the client must wait before it sends the request again.
    public var retryAfter = TimeSpan.zero

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

    package static func badRequest(_ code: String, _ message: String, _ advice: String) -> ControlRefusal {
        ControlRefusal(.badRequest, code: code, message: message, advice: advice)
    }

    var headers: [ControlContent.Header] {
        switch status {
        case .wrongMethod: [.init("Allow", allowed.joined(separator: ", "))]
        case .unauthorized: [.init("WWW-Authenticate", "Bearer")]
        case .tooMany: [.init("Retry-After", String((retryAfter.wholeMilliseconds + 999) / 1_000))]
        case .badRequest, .forbidden, .notFound, .conflict, .tooLarge, .failed: []
        }
    }

    var content: ControlContent {
        var content = ControlContent(status: status.rawValue, type: "application/json", json)
        content.headers = headers
        return content
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
