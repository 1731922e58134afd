// The API as OpenAPI 3.1, composed from the table of endpoints, so that it describes what is answered.
import WakeControl
import WakeModel

package enum APIDescription {
    /// - Parameter cookie: what a login calls its cookie.
    package static func document(version: String, cookie: String = "wakebridge-8787") -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("openapi", "3.1.0")
            writer.object("info") { info in
                info.field("title", "WakeBridge")
                info.field("version", version)
                info.field("summary", "Devices wake frozen programs; see, and steer, which and why.")
            }
            writer.objects("servers", ["../"]) { server, url in server.field("url", url) }
            writer.object("paths") { $0.paths() }
            writer.object("components") { components in
                components.object("schemas") { $0.sharedSchemas() }
                components.object("responses") { $0.object("refusal") { $0.refusal() } }
                components.object("securitySchemes") { $0.securitySchemes(cookie: cookie) }
            }
        }
    }

    /// The endpoints of one address, in the order of the table.
    fileprivate static var addresses: [(address: String, endpoints: [Endpoint])] {
        var order: [String] = []
        var grouped: [String: [Endpoint]] = [:]
        for endpoint in API.endpoints {
            let address = endpoint.templatedAddress
            if grouped[address] == nil { order.append(address) }
            grouped[address, default: []].append(endpoint)
        }
        return order.map { ($0, grouped[$0] ?? []) }
    }
}

extension Endpoint {
    /// `/v1/handlers/{id}/why`.
    var templatedAddress: String {
        "/" + route.path.map { Route.isFree($0) ? "{\($0.lowercased())}" : $0 }.joined(separator: "/")
    }

    fileprivate var isHook: Bool { route.path.contains(Route.hooks) }
    fileprivate var freeNames: [String] { route.path.filter(Route.isFree).map { $0.lowercased() } }

    /// `get_handlers_id_why`.
    fileprivate var operation: String {
        let words = route.path.dropFirst(route.path.first == "v1" ? 1 : 0).map { word in
            String(word.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
        }
        return ([route.method.lowercased()] + words).joined(separator: "_")
    }

    /// The other statuses that an endpoint may answer. Any name in a path or a body may be unknown.
    fileprivate var refusals: [Int] {
        var refusals: Set<Int> = [400, 403, 413, 500]
        if route.role != nil || route.path.last == "login" || isHook { refusals.insert(401) }
        if !freeNames.isEmpty || !body.isEmpty || !parameters.isEmpty { refusals.insert(404) }
        if isHook || route.takesInboxTokens { refusals.insert(429) }
        if route.path.last != "me" { refusals.insert(409) }
        return refusals.sorted()
    }
}

extension JSONWriter {
    fileprivate mutating func paths() {
        for (address, endpoints) in APIDescription.addresses {
            key(named: address)
            object { item in
                for endpoint in endpoints {
                    item.key(named: endpoint.route.method.lowercased())
                    item.object { $0.operation(endpoint) }
                }
            }
        }
    }

    private mutating func operation(_ endpoint: Endpoint) {
        field("operationId", endpoint.operation)
        field("summary", endpoint.summary)
        field("description", Self.access(endpoint))
        parameters(endpoint)
        if endpoint.route.method == "POST" { requestBody(endpoint) }
        object("responses") { responses in
            responses.key(named: "\(endpoint.status)")
            responses.object { $0.responseBody(endpoint.form) }
            for status in endpoint.refusals {
                responses.key(named: "\(status)")
                responses.object { $0.field("$ref", "#/components/responses/refusal") }
            }
        }
        security(endpoint.route.role)
    }

    private static func access(_ endpoint: Endpoint) -> String {
        guard let role = endpoint.route.role else {
            return endpoint.isHook ? "Its address is the token." : "Needs no token."
        }
        return "Needs the role '\(role.rawValue)'\(endpoint.route.isLocal ? ", on the control socket alone" : "")."
    }

    private mutating func parameters(_ endpoint: Endpoint) {
        let named = endpoint.freeNames.map { (name: $0, place: "path", summary: "", schema: Schema.name) }
        let asked = endpoint.parameters.map { (name: $0.name, place: "query", summary: $0.summary, schema: $0.schema) }
        guard !named.isEmpty || !asked.isEmpty else { return }
        objects("parameters", named + asked) { writer, parameter in
            writer.field("name", parameter.name)
            writer.field("in", parameter.place)
            if parameter.place == "path" { writer.field("required", true) }
            if !parameter.summary.isEmpty { writer.field("description", parameter.summary) }
            writer.key("schema")
            writer.schema(parameter.schema)
        }
    }

    /// An empty body counts as an empty object.
    private mutating func requestBody(_ endpoint: Endpoint) {
        object("requestBody") { body in
            body.field("required", endpoint.body.contains(where: \.isRequired))
            body.object("content") { content in
                if endpoint.takesBytes { return content.object("application/octet-stream") { _ in } }
                content.object("application/json") { media in
                    media.key("schema")
                    media.schema(.exactly(endpoint.body))
                }
            }
        }
    }

    private mutating func responseBody(_ form: Endpoint.Form) {
        switch form {
        case .json(let schema):
            field("description", "the answer")
            content(["application/json"], schema)
        case .stream(let schema):
            field("description", "one JSON object a line, until either side closes the connection")
            content(["application/x-ndjson", "text/event-stream"], schema)
        case .text(let type):
            field("description", "text")
            content([type], .text)
        case .textStream(let type):
            field("description", "text, until either side closes the connection")
            content([type, "text/event-stream"], .text)
        }
    }

    private mutating func content(_ types: [String], _ schema: Schema) {
        object("content") { content in
            for type in types {
                content.key(named: type)
                content.object { media in
                    media.key("schema")
                    media.schema(schema)
                }
            }
        }
    }

    fileprivate mutating func refusal() {
        field("description", "why not, and what to do")
        content(["application/json"], .named(.error))
    }

    private mutating func security(_ role: AccessRole?) {
        key("security")
        beginArray()
        if role != nil {
            for scheme in ["token", "cookie"] {
                object { choice in
                    choice.key(named: scheme)
                    choice.beginArray()
                    choice.endArray()
                }
            }
        }
        endArray()
    }

    fileprivate mutating func sharedSchemas() {
        for shared in SharedSchema.allCases {
            key(named: shared.rawValue)
            schema(shared.schema)
        }
    }

    fileprivate mutating func securitySchemes(cookie: String) {
        object("token") { scheme in
            scheme.field("type", "http")
            scheme.field("scheme", "bearer")
        }
        object("cookie") { scheme in
            scheme.field("type", "apiKey")
            scheme.field("in", "cookie")
            scheme.field("name", cookie)
        }
    }
}
