// Questions and orders of those who watch: how far back, what to pair, and what a pairing is answered.
import WakeControl
import WakeModel

/// How far back an answer reaches.
enum HistorySpan: String, Hashable, Sendable, CaseIterable {
    case quarterHour = "15m"
    case day = "24h"
    case week = "7d"

    /// Handlers have no longer timeline.
    static let ofTimelines: [HistorySpan] = [.quarterHour, .day]
}

struct PairingOrder: Hashable, Sendable {
    var device: String
    /// Nil for the name that the tool makes of profile and address.
    var alias: String?
}

/// An answer to what the pairing asked last.
struct PairingAnswer: Hashable, Sendable {
    enum Word: Hashable, Sendable {
        case passkey(String)
        case agrees(Bool)
    }

    var pairing: Int64
    var word: Word
}

extension HistorySpan {
    init(_ asked: Asked, of kind: String, among known: [HistorySpan]) throws(ControlRefusal) {
        guard let text = asked.named("span") else {
            self = .quarterHour
            return
        }
        guard let span = known.first(where: { $0.rawValue == text }) else {
            let words = known.map(\.rawValue).joined(separator: " or ")
            throw .badRequest("bad-value", "span=\(text) is no span of a \(kind)", "use \(words)")
        }
        self = span
    }
}

extension PairingAnswer {
    init(_ body: RequestBody) throws(ControlRefusal) {
        let pairing = try body.whole("pairing")
        switch (try body.text("passkey"), try body.flag("agrees")) {
        case (let passkey?, nil): self.init(pairing: pairing, word: .passkey(passkey))
        case (nil, let agrees?): self.init(pairing: pairing, word: .agrees(agrees))
        case (_, _):
            throw .badRequest(
                "bad-choice", "it is not clear what is answered", "give exactly one of passkey, agrees")
        }
    }
}

extension RequestBody {
    fileprivate func whole(_ key: String) throws(ControlRefusal) -> Int64 {
        if let number = try sequence(key) { return Int64(clamping: number.rawValue) }
        throw .badRequest("missing-key", "an answer needs the key '\(key)'", "add \"\(key)\": 1 to the body")
    }
}
