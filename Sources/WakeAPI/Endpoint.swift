// A row of the API: an address, its callers, its body, the form of its answer, and the answer itself.
import WakeControl
import WakeModel

package struct Endpoint: Sendable {
    package struct Parameter: Hashable, Sendable {
        var name: String
        var summary: String
        var schema: Schema

        init(_ name: String, _ summary: String, _ schema: Schema = .text) {
            (self.name, self.summary, self.schema) = (name, summary, schema)
        }
    }

    enum Form: Hashable, Sendable {
        case json(Schema)
        /// A stream of JSON objects, one a line, each of this schema, until either side closes it.
        case stream(Schema)
        /// Text of this media type.
        case text(String)
        /// Text of this media type, until either side closes it.
        case textStream(String)

        static let done = Form.json(.named(.done))
    }

    /// The answer to a request whose body and parameters make sense.
    package typealias PreparedAnswer = (API) throws(ControlRefusal) -> ControlResponse

    package let route: Route
    let summary: String
    let parameters: [Parameter]
    /// The keys of the body; others are refused. A GET has no body.
    let body: [Schema.Key]
    /// Its body is taken as it is, whatever it is, and is no JSON.
    let takesBytes: Bool
    /// The status of the answer to a request that succeeded.
    let status: Int
    let form: Form
    private let read: @Sendable (Asked) throws(ControlRefusal) -> PreparedAnswer

    /// - Parameters:
    ///   - body: the keys of the body.
    ///   - form: what is answered.
    ///   - read: reads the body and the parameters, before anything is done.
    ///   - answer: does what is asked, with what `read` found.
    init<Order>(
        _ route: Route, _ summary: String, parameters: [Parameter] = [], body: [Schema.Key] = [],
        takesBytes: Bool = false, status: Int = 200, _ form: Form = .done,
        reads read: @escaping @Sendable (Asked) throws(ControlRefusal) -> Order,
        answers answer: @escaping @Sendable (API, Asked, Order) throws(ControlRefusal) -> ControlResponse
    ) {
        (self.route, self.summary, self.parameters, self.body) = (route, summary, parameters, body)
        (self.takesBytes, self.status, self.form) = (takesBytes, status, form)
        self.read = { asked throws(ControlRefusal) in
            let order = try read(asked)
            return { api throws(ControlRefusal) in try answer(api, asked, order) }
        }
    }

    /// An endpoint that reads no more than its path, and parameters that may be anything.
    init(
        _ route: Route, _ summary: String, parameters: [Parameter] = [], _ form: Form = .done,
        _ answer: @escaping @Sendable (API, Asked) throws(ControlRefusal) -> ControlResponse
    ) {
        self.init(
            route, summary, parameters: parameters, form, reads: { _ in () },
            answers: { api, asked, _ throws(ControlRefusal) in try answer(api, asked) })
    }

    /// Reads a request. A refusal explains what is wrong with it, and which key is nearest.
    func answer(to request: ControlRequest) throws(ControlRefusal) -> PreparedAnswer {
        if let refusal = route.refusal(of: request) { throw refusal }
        let isSent = route.method != "GET" && !takesBytes
        let body = try RequestBody(isSent ? request.body : [], to: request.path, keys: body.map(\.name))
        let captures = route.captures(in: request.path) ?? Route.Captures()
        return try read(Asked(request: request, captures: captures, body: body))
    }
}

extension ControlResponse {
    /// Status 200 with the value in its form, and a line end.
    package static func json(_ value: some Shaped) -> ControlResponse { .json { value.write(into: &$0) } }
}

/// A request at its endpoint, with what it names and its body, whose keys are all known.
struct Asked {
    let request: ControlRequest
    let captures: Route.Captures
    let body: RequestBody

    /// The text of the first free component of the path, and of the second.
    var first: String { captures.first }
    var second: String { captures.second }

    func named(_ parameter: String) -> String? { request.named(parameter) }

    func require(_ parameter: String) throws(ControlRefusal) -> String {
        if let name = named(parameter) { return name }
        let path = "/" + request.path.joined(separator: "/")
        throw .badRequest(
            "missing-parameter", "\(path) needs the parameter '\(parameter)'", "ask for \(path)?\(parameter)=NAME")
    }
}
