// How the edge answers a request: at once, later, a refusal slowly, or by a stream.
import WakeLoop
import WakeModel
import WakeSystem

extension HTTPEdge {
    /// Refuses a request by its head, where the body need not be read.
    func begin(_ exchange: Exchange, on connection: HTTPConnection) -> Bool {
        if let refusal = exchange.refusalOfHead { return connection.reply(refusal.content.closing) }
        switch admission.admit(exchange.client, exchange.head, to: exchange.route) {
        case .refused(let refusal): return answer(.refusal(refusal), exchange, on: connection)
        case .slowed(let refusal): return answer(.slowly(refusal), exchange, on: connection)
        case .admitted(let access, let holder): (exchange.request.access, exchange.request.token) = (access, holder)
        }
        if let redirect = admission.redirect(from: exchange.address) {
            return answer(.content(redirect), exchange, on: connection)
        }
        if let refusal = exchange.route?.refusal(of: exchange.request) {
            return answer(.refusal(refusal), exchange, on: connection)
        }
        guard exchange.announcedBytes > limits.discardedBytes else { return true }
        return answer(.refusal(exchange.tooLarge(exchange.announcedBytes)), exchange, on: connection)
    }

    /// Answers a request that is whole. The library comes back to it when its connection is resumed.
    func finish(_ exchange: Exchange, on connection: HTTPConnection) -> Bool {
        if let pending = exchange.pending { return settle(pending, exchange, on: connection) }
        guard !isEnding else { return false }
        guard exchange.receivedBytes <= exchange.bodyLimit else {
            return answer(.refusal(exchange.tooLarge(exchange.receivedBytes)), exchange, on: connection)
        }
        return answer(answers.answer(exchange.request, exchange.page), exchange, on: connection)
    }

    private func answer(_ response: ControlResponse, _ exchange: Exchange, on connection: HTTPConnection) -> Bool {
        switch response {
        case .json(let status, let bytes):
            connection.reply(ControlContent(status: status, type: "application/json", bytes))
        case .text(let status, let text):
            connection.reply(ControlContent(status: status, type: "text/plain; charset=utf-8", Array(text.utf8)))
        case .content(let content): connection.reply(content)
        case .refusal(let refusal): connection.reply(refusal.content)
        case .stream(let contentType, _) where exchange.request.method == "HEAD":
            connection.reply(ControlContent(type: contentType, []))
        case .stream(let contentType, let onOpen):
            open(ControlStream(contentType: contentType, as: exchange.framing), exchange, connection, onOpen)
        case .slowly(let refusal): postpone(refusal, exchange, connection)
        case .later(let begin): postpone(exchange, connection, begin)
        }
    }

    // MARK: Later

    /// Suspends the connection until the answer is there.
    private func postpone(
        _ exchange: Exchange, _ connection: HTTPConnection, _ begin: (@escaping (ControlResponse) -> Void) -> Void
    ) -> Bool {
        let answer = makePending(exchange, connection)
        begin { answer.give($0) }
        return settle(answer, exchange, on: connection)
    }

    /// Delays the refusal while few connections are held, since each takes a place. Past the limit it refuses at once
    /// and closes.
    private func postpone(_ refusal: ControlRefusal, _ exchange: Exchange, _ connection: HTTPConnection) -> Bool {
        guard owed.held < WrongTokens.mostPostponed else { return connection.reply(refusal.content.closing) }
        let answer = makePending(exchange, connection)
        let now = SystemClock.monotonic()
        owed.hold(connection, at: now)
        late.add(refusal, to: answer, on: connection, at: now)
        return settle(answer, exchange, on: connection)
    }

    private func makePending(_ exchange: Exchange, _ connection: HTTPConnection) -> PendingAnswer {
        let answer = PendingAnswer(on: connection, waking: wake)
        exchange.pending = answer
        pending[ObjectIdentifier(answer)] = answer
        owed.settle(connection)
        return answer
    }

    private func settle(_ pending: PendingAnswer, _ exchange: Exchange, on connection: HTTPConnection) -> Bool {
        guard let response = pending.response else {
            pending.suspend()
            return true
        }
        forget(exchange)
        return answer(response, exchange, on: connection)
    }

    /// Drops the exchange's pending answer, so that nothing comes later for it.
    func forget(_ exchange: Exchange) {
        guard let answer = exchange.pending else { return }
        exchange.pending = nil
        pending[ObjectIdentifier(answer)] = nil
        answer.finish()
    }

    static let ending = ControlRefusal(
        .failed, code: "failed", message: "the daemon ends before the answer came",
        advice: "try again when the daemon runs")

    // MARK: Streams

    private func open(
        _ stream: ControlStream, _ exchange: Exchange, _ connection: HTTPConnection, _ onOpen: (ControlStream) -> Void
    ) -> Bool {
        let transmission = Transmission(stream, on: connection, waking: wake, for: exchange.holder)
        exchange.transmission = transmission
        transmissions[ObjectIdentifier(transmission)] = transmission
        owed.settle(connection)
        transmission.watch(connection.descriptor, for: exchange.client.hangup, on: loop)
        onOpen(stream)
        return connection.stream(transmission)
    }
}
