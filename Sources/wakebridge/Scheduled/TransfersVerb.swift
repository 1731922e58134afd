// wakebridge transfers: what handlers have handed over to be received or sent, how far each of it is, and to cancel one.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var transfers: Verb {
        Verb(
            name: "transfers", summary: "files that are received and sent for handlers, and how far each is",
            synopsis: ["[--json] [HANDLER]", "--cancel [--json] HANDLER SESSION/ID"],
            detail: """
                DONE counts bytes: those received of a download, those sent of an upload. WAITS FOR names what must come
                true before a transfer moves: time, a condition, a place among those of its session, a credential, the
                next attempt after a failure, or the end of its session, with which its handler is told. With --cancel
                the handler is told that the transfer has failed.
                """,
            examples: ["wakebridge transfers", "wakebridge transfers --cancel hr photos/17"],
            flags: [Flag("cancel", "cancel the transfer that pending calls SESSION/ID"), jsonFlag]
                + daemonFlags, operands: [.handler, .free]
        ) { words throws(Complaint) in
            if words.has("cancel") { return try cancel(words) }
            let id = try words.optional()
            return try report(words, id.map { path(ofHandler: $0, "pending") } ?? "/v1/pending") { answer in
                let entries = answer.list("pending").filter { $0.text("source") == "transfer" }
                if entries.isEmpty { return "no transfer is open\n" }
                let rows = entries.map { TransferRow(entry: $0).cells }
                return Table(head: TransferRow.head, rows: rows).text
            }
        }
    }

    /// A handler's name has no slash, so the older order, with the transfer first, is taken too.
    private static func cancel(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        try words.atMost(2)
        guard words.operands.count == 2 else {
            throw .usage("--cancel needs a HANDLER and the SESSION/ID of a transfer")
        }
        let isOlder = words.operands[0].contains("/") && !words.operands[1].contains("/")
        let (handler, transfer) = (words.operands[isOlder ? 1 : 0], words.operands[isOlder ? 0 : 1])
        return try order(words, path(ofHandler: handler, "transfers/\(transfer.percentEncoded)/cancel")) { _ in
            "transfer \(transfer.printable) is cancelled"
        }
    }
}

/// For each handler that has some, how far its transfers are together.
struct TransferTable {
    private let handlers: [JSONValue]

    init(handlers: [JSONValue]) { self.handlers = handlers.filter { ($0["transfers"] ?? .null).count("open") > 0 } }

    var isEmpty: Bool { handlers.isEmpty }

    var text: String {
        let rows = handlers.map { handler in
            let transfers = handler["transfers"] ?? .null
            return [
                handler.text("id"), String(transfers.count("open")), String(transfers.count("moving")),
                spokenBytes(transfers.count("done")), transfers["total"]?.integer.map(spokenBytes) ?? "-",
            ]
        }
        return Table(head: ["HANDLER", "TRANSFERS", "MOVE", "DONE", "OF"], rows: rows, numeric: [1, 2, 3, 4]).text
    }
}

private struct TransferRow {
    let entry: JSONValue

    static let head = ["HANDLER", "TRANSFER", "STATE", "DONE", "OF", "WAITS FOR", "NEXT CHANCE"]

    var cells: [String] {
        let waits = entry.list("waits").map { $0.text("for") }.joined(separator: ", ")
        let next = entry["next_chance"]?.string.flatMap { WallTime(rfc3339: $0) }.map { spokenSecond($0) }
        let cells = [
            entry.text("handler"), entry.text("id"), entry.text("state"), done, bytes("total"), waits,
            next ?? "",
        ]
        return cells.map { $0.isEmpty ? "-" : $0 }
    }

    private func bytes(_ key: String) -> String { entry[key]?.integer.map(spokenBytes) ?? "" }

    /// `1.5 MiB (37.5 %)`.
    private var done: String {
        guard let total = entry["total"]?.integer, total > 0 else { return bytes("done") }
        return "\(bytes("done")) (\(tenths(Double(entry.count("done")) * 100 / Double(total))) %)"
    }
}
