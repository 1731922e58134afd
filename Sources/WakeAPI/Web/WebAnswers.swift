// Answers about access over TCP: the client itself, its cookie, and the tokens.
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

extension Endpoint {
    private static let role = Schema.word(AccessRole.allCases.map(\.rawValue))

    static let access: [Endpoint] = [
        Endpoint(
            .get("/v1/me", nil), "what you may do, and the version",
            .json(.object([.always("role", .nullable(role)), .always("version", .text), .always("docs", .text)]))
        ) { api, asked in api.web.me(asked.request.access?.role) },
        Endpoint(
            .post("/v1/login", nil, bodyLimit: 4 << 10), "gives a browser a cookie for its token",
            body: [.always("token", .name)], .json(.object([.always("role", role)])),
            reads: { asked throws(ControlRefusal) in
                LoginAttempt(
                    token: try asked.body.require("token"), address: asked.request.address,
                    origin: asked.request.headers.first { $0.name == "origin" }?.value)
            },
            answers: { api, _, attempt throws(ControlRefusal) in try api.web.login(attempt) }),
        Endpoint(.post("/v1/logout", nil, bodyLimit: 4 << 10), "takes the cookie back") {
            api, _ throws(ControlRefusal) in try api.web.logout()
        },
        Endpoint(.get("/v1/openapi.json", nil), "this API, as OpenAPI 3.1", .json(.anything)) { api, _ in
            api.web.description()
        },
        Endpoint(
            .get("/v1/tokens", .pair, isLocal: true), "where the bridge listens, and who has tokens",
            .json(.named(.tokens))
        ) { api, _ throws(ControlRefusal) in try api.web.tokens() },
        Endpoint(
            .post("/v1/tokens", .pair, isLocal: true), "makes a token, and shows it once",
            body: [
                .always("name", .name), .perhaps("role", role), .perhaps("inbox", .name), .perhaps("urgent", .flag),
            ], .json(.named(.newToken)),
            reads: { asked throws(ControlRefusal) in
                TokenHolder(name: try asked.body.require("name"), try asked.body.access())
            },
            answers: { api, _, holder throws(ControlRefusal) in try api.web.makeToken(holder) }),
        Endpoint(
            .post("/v1/tokens/revoke", .pair, isLocal: true), "revokes a token, and ends its streams",
            body: [.always("name", .name)], reads: { asked throws(ControlRefusal) in try asked.body.require("name") },
            answers: { api, _, name throws(ControlRefusal) in try api.web.revokeToken(name) }),
    ]
}

struct WebAnswers {
    let entry: WebEntry
    let names: HandlerNames

    func me(_ role: AccessRole?) -> ControlResponse {
        .object { writer in
            writer.field("role", role?.rawValue)
            writer.field("version", entry.version)
            writer.field("docs", "v1/openapi.json")
        }
    }

    func description() -> ControlResponse {
        .json(status: 200, entry.description)
    }

    func tokens() throws(ControlRefusal) -> ControlResponse {
        let book = try self.book()
        return .object { writer in
            writer.field("address", entry.address)
            writer.objects("tokens", book.entries) { writer, token in
                writer.field("name", token.holder.name)
                writer.access(book.named(token.holder).access)
                writer.field("made", token.made)
            }
        }
    }

    func makeToken(_ holder: TokenHolder) throws(ControlRefusal) -> ControlResponse {
        var kept = holder
        if let name = holder.access.inbox {
            _ = try names.handler(name)
            // A manifest with instances has none.
            let id = names.catalog.handler(named: name).flatMap { names.catalog.handlers[$0]?.id }
            kept.access = .inbox(of: id ?? name, isUrgent: holder.access.isUrgent)
        }
        let token = try book().make(kept)
        return .object { writer in
            writer.field("token", token)
            writer.field("name", holder.name)
            writer.access(holder.access)
            writer.field("address", entry.address)
        }
    }

    func revokeToken(_ name: String) throws(ControlRefusal) -> ControlResponse {
        try book().revoke(name)
        entry.endStreams(of: name)
        return .done
    }

    func login(_ attempt: LoginAttempt) throws(ControlRefusal) -> ControlResponse {
        guard let door = entry.door else { throw .noDoor }
        return door.login(attempt)
    }

    func logout() throws(ControlRefusal) -> ControlResponse {
        guard let door = entry.door else { throw .noDoor }
        return door.logout()
    }

    private func book() throws(ControlRefusal) -> TokenBook {
        switch entry.book {
        case .success(let book): return book
        case .failure(let fault):
            throw ControlRefusal(
                .failed, code: "failed", message: "the tokens cannot be read: \(fault.sentence)",
                advice: "fix or remove web-tokens.json in the state directory, and restart wakebridged")
        }
    }
}

extension ControlRefusal {
    fileprivate static let noDoor = ControlRefusal(
        .conflict, code: "conflict", message: "this bridge does not listen for browsers",
        advice: "to turn the web page on, run: sudo wakebridge web --enable")
}
