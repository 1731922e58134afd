// Answers about access over TCP: the client itself, its cookie, and the tokens.
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

extension ControlAnswers {
    func me(_ role: AccessRole?) -> ControlResponse {
        .json { writer in
            writer.object { writer in
                writer.field("role", role?.rawValue)
                writer.field("version", Daemon.version)
                writer.field("docs", "v1/openapi.json")
            }
        }
    }

    func description() -> ControlResponse {
        .json(status: 200, entry.description)
    }

    func tokens() throws(ControlRefusal) -> ControlResponse {
        let book = try self.book()
        return .json { writer in
            writer.object { writer in
                writer.field("address", entry.address)
                writer.objects("tokens", book.entries) { writer, token in
                    writer.field("name", token.holder.name)
                    writer.access(book.named(token.holder).access)
                    writer.field("made", token.made)
                }
            }
        }
    }

    func makeToken(_ holder: TokenHolder) throws(ControlRefusal) -> ControlResponse {
        var kept = holder
        if let name = holder.access.inbox {
            _ = try handler(name)
            // A manifest with instances has none.
            let id = bridge.catalog.handler(named: name).flatMap { bridge.catalog.handlers[$0]?.id }
            kept.access = .inbox(of: id ?? name, isUrgent: holder.access.isUrgent)
        }
        let token = try book().make(kept)
        return .json { writer in
            writer.object { writer in
                writer.field("token", token)
                writer.field("name", holder.name)
                writer.access(holder.access)
                writer.field("address", entry.address)
            }
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
