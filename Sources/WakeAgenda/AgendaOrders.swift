// Handles the orders of handlers on descriptor 3: the book for each order, its permission, and its answer.
import WakeModel

extension Agenda {
    /// An answer is composed when the step has shown what follows from the order.
    package struct OrderAnswer {
        package enum Content {
            case word(String, [AgendaKey])
            case transfer(String, AgendaKey, startsIn: TimeSpan?)
            case pending
            /// As a book composed it.
            case whole(AgendaAnswer)
            /// The answer follows as an effect of a later step.
            case later
        }

        var handler: HandlerID
        var epoch: Epoch
        var verb: HandlerOrder.Verb
        var content: Content
        var ref: Reference?
    }

    mutating func answer(
        _ order: HandlerOrder, of handler: HandlerID, _ epoch: Epoch, _ ref: Reference?, _ step: inout AgendaStep
    ) -> OrderAnswer {
        let content: OrderAnswer.Content
        do throws(ProtocolFault) {
            content = try carryOut(order, from: OrderSender(handler: handler, epoch: epoch, ref: ref), &step)
        } catch {
            var fault = error
            fault.reference = ref
            content = .whole(.fault(fault))
        }
        return OrderAnswer(handler: handler, epoch: epoch, verb: order.verb, content: content, ref: ref)
    }

    func composed(_ answer: OrderAnswer, _ step: AgendaStep) -> AgendaAnswer? {
        switch answer.content {
        case .word(let word, let keys):
            return .done(answer.verb, word: word, pending(of: answer.handler, first: keys, step))
        // Alone: there may be a thousand more.
        case .transfer(let word, let key, let startsIn):
            let listed = transfers.store[key].map { [$0.listed(step)] } ?? []
            return .transfer(answer.verb, word: word, startsIn: startsIn, listed)
        case .pending: return .pending(pending(of: answer.handler, step))
        case .whole(let whole): return whole
        case .later: return nil
        }
    }

    /// The entries of the order first, then what else of its source is pending.
    private func pending(of handler: HandlerID, first keys: [AgendaKey], _ step: AgendaStep) -> [PendingEntry] {
        let sources = Set(keys.map(\.source))
        let all = pending(of: handler, from: sources, step)
        let named = keys.flatMap { key in all.filter { $0.key == key } }
        return named + all.filter { !keys.contains($0.key) }
    }

    private mutating func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch order.verb {
        case .pending:
            guard order.value.boolean == true else {
                throw .malformed(
                    "\"pending\" must be true; got \(order.value.excerpt).", advice: "Write {\"pending\":true}.")
            }
            return .pending
        case .cancel:
            let cancellation = try Cancellation(order.value)
            guard let row = Self.row(of: cancellation.source) else { throw .notCarriedOut(.cancel, nil) }
            return try row.carryOut(cancellation, from: sender, in: &self, &step)
        default:
            let row = Self.rows.first { row in row.kind.orders.contains { $0.verb == order.verb } }
            guard let row else { throw .notCarriedOut(order.verb, nil) }
            return try row.carryOut(order, from: sender, in: &self, &step)
        }
    }
}

/// The handler that wrote an order, and how its answer is addressed.
package struct OrderSender {
    var handler: HandlerID
    var epoch: Epoch
    var ref: Reference?
}

/// The value of `cancel`: `{"job":"backup"}`, or `{"jobs":true}` for all.
package struct Cancellation {
    var source: AgendaSource
    var key: String
    /// All of its kind; otherwise `named` has a name.
    var isOfAll: Bool
    var named: JSONValue
    var value: JSONValue

    private static let example = "{\"cancel\":{\"job\":\"backup\"}}"

    init(_ value: JSONValue) throws(ProtocolFault) {
        let kinds = TriggerKind.all(.isCancellable)
        let keys = kinds.flatMap { [$0.word, $0.nouns] }
        let object = try RuleObject(value, owner: "\"cancel\"", keys: keys, example: Self.example)
        let named = keys.filter { object[$0] != nil }
        guard let key = named.first, named.count == 1, let content = object[key],
            let kind = kinds.first(where: { key == $0.word || key == $0.nouns })
        else {
            throw .malformed(
                "\"cancel\" names \(named.isEmpty ? "nothing" : named.listed); it takes one of \(keys.listed).",
                advice: "Write \(Self.example), or {\"cancel\":{\"jobs\":true}} for all.")
        }
        (source, self.key, isOfAll) = (AgendaSource(kind), key, key == kind.nouns)
        (self.named, self.value) = (content, value)
        guard isOfAll, content.boolean != true else { return }
        throw object.fault(
            key, takes: "true", content, advice: "Write {\"cancel\":{\"\(key)\":true}}, or name one of them.")
    }

    func identifier() throws(ProtocolFault) -> String { try named.identifier(key, of: "\"cancel\"") }
}
