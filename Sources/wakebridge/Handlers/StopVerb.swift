// wakebridge stop: stops a handler until it is started again.
import WakeArguments

extension Verb {
    static var stop: Verb {
        Verb(
            name: "stop", summary: "force-quit a handler, until 'start', also over a reboot",
            synopsis: ["[--json] [--keep-sessions] HANDLER"],
            detail: """
                Thaws it, sends SIGTERM, waits 5 s and kills it. It is not woken again before 'wakebridge start'. The
                sessions of peripherals that no other running handler watches are closed until then, and so are its
                sockets. Its transfers are cancelled.
                """,
            examples: ["wakebridge stop hr"],
            flags: [
                Flag("keep-sessions", short: "k", "leave the sessions of its peripherals as they are"), jsonFlag,
            ] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.only("HANDLER")
            let body = words.has("keep-sessions") ? Array("{\"keep_sessions\":true}".utf8) : []
            return try order(words, path(ofHandler: id, "stop"), body: body) { _ in
                "\(id.printable) is stopped; 'wakebridge start \(id.printable)' lets it run again"
            }
        }
    }
}
