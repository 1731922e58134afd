// wakebridge transfers: what handlers have handed over to be received or sent, how far each of it is, and to cancel one.
import WakeModel
import WakeSystem
import WakeWords

extension Verb {
    static var transfers: Verb {
        Verb(
            name: "transfers", summary: "files that are received and sent for handlers, and how far each is",
            synopsis: ["[--json] [HANDLER]", "--cancel SESSION/ID [--json] HANDLER"],
            detail: """
                DONE counts bytes: those received of a download, those sent of an upload. WAITS FOR names what must come
                true before a transfer moves: time, a condition, a place among those of its session, a credential, the
                next attempt after a failure, or the end of its session, with which its handler is told. With --cancel
                the handler is told that the transfer has failed.
                """,
            flags: [Flag("cancel", value: "TRANSFER", "cancel the transfer that pending calls SESSION/ID"), jsonFlag]
                + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let id = try words.optional()
            if let transfer = words.value("cancel") { return try cancel(transfer, of: id, words) }
            let now = SystemClock.wall()
            return try report(words, id.map { path(ofHandler: $0, "pending") } ?? "/v1/pending") { answer in
                let entries = answer.list("pending").filter { $0.text("source") == "transfer" }
                if entries.isEmpty { return "no transfer is open\n" }
                let rows = entries.map { TransferRow(entry: $0, now: now).cells }
                return Table(rows: [TransferRow.head] + rows).text
            }
        }
    }

    private static func cancel(
        _ transfer: String, of handler: String?, _ words: ParsedWords
    ) throws(Complaint) -> Int32 {
        guard let handler else { throw .usage("--cancel needs the HANDLER of the transfer") }
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
        return Table(rows: [["HANDLER", "TRANSFERS", "MOVE", "DONE", "OF"]] + rows, numeric: [1, 2, 3, 4]).text
    }
}

private struct TransferRow {
    let entry: JSONValue
    let now: WallTime

    static let head = ["HANDLER", "TRANSFER", "STATE", "DONE", "OF", "WAITS FOR", "NEXT CHANCE"]

    var cells: [String] {
        let waits = entry.list("waits").map { $0.text("for") }.joined(separator: ", ")
        let next = entry["next_chance"]?.string.flatMap { WallTime(rfc3339: $0) }.map { spokenMoment($0, now: now) }
        let cells = [
            entry.text("handler"), entry.text("id"), entry.text("state"), bytes("done"), bytes("total"), waits,
            next ?? "",
        ]
        return cells.map { $0.isEmpty ? "-" : $0 }
    }

    private func bytes(_ key: String) -> String { entry[key]?.integer.map(String.init) ?? "" }
}
