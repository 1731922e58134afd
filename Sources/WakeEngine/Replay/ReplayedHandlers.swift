// The operations of handlers and their operators in a trace, passed to the core as a daemon does.
import WakeAgenda
import WakeCore
import WakeModel
import WakeProfiles
import WakeTrace
import WakeTransfer

extension VirtualReplay {
    func apply(_ deed: HandlerOperation, to name: String, of line: Int) throws(TraceError) {
        // Operations of the trace's own handlers mean nothing to the handlers that replace them.
        guard manifests.isEmpty || engine.catalog.isConfigured(name) else { return }
        switch deed {
        case .manifest(let text): if manifests.isEmpty { try adopt(name, text, line) }
        case .remove: if manifests.isEmpty { try remove(name, line) }
        case .say(let text): say(text, as: try handler(name, line))
        case .message(let text): try send(text, to: try handler(name, line), line)
        case .transfer(let transfer, let end):
            let id = try handler(name, line)
            // This replay's decisions did not order the transfer, or have ended it.
            guard let number = turn.transferNumber(of: id, transfer) else { return }
            turn.schedule(.transfer(id, number, try news(of: end, line)))
        case .readable(let socket, let bytes):
            ground.world.setUnread(bytes, in: AgendaKey(try handler(name, line), .socket, socket))
        case .central(let central, let deed):
            turn.schedule(.peripheral(try handler(name, line), PeripheralReport(deed, of: central, as: UInt64(line))))
        case .attach: turn.ingest(.operated(try handler(name, line), .attach))
        case .detach: turn.ingest(.operated(try handler(name, line), .detach))
        case .stop: try setStopped(true, name, line)
        case .start: try setStopped(false, name, line)
        }
    }

    private func remove(_ name: String, _ line: Int) throws(TraceError) {
        if engine.catalog.perDevice[name] != nil { return engine.withdraw(name) }
        engine.dismiss(try handler(name, line))
    }

    /// Applies to instances of a manifest that are still to come: the others have lines of their own.
    private func setStopped(_ isStopped: Bool, _ name: String, _ line: Int) throws(TraceError) {
        if engine.catalog.perDevice[name] != nil { return engine.setStopped(isStopped, name) }
        turn.ingest(.operated(try handler(name, line), isStopped ? .stop : .start))
    }

    private func adopt(_ name: String, _ text: String, _ line: Int) throws(TraceError) {
        do throws(ConfigurationErrors) {
            let manifest = try HandlerManifest(
                replaying: name, file: name, text: Array(text.utf8), ground.profiles)
            // Each life of a recorded daemon records all manifests again.
            guard !bridge.manifests.contains(manifest) else { return }
            engine.configure(manifest)
        } catch {
            throw TraceError(line: line, column: 1, reason: "the manifest is refused: \(error)")
        }
    }

    private func news(of end: TracedTransfer, _ line: Int) throws(TraceError) -> TransferNews {
        switch end {
        case .done(let bytes): return .ended(TransferResult(status: 200, received: bytes))
        case .challenged: return .challenged(realm: "")
        case .failed(let word):
            if let failure = TransferFailure(rawValue: word) { return .ended(TransferResult(failure: failure)) }
            let known = TransferFailure.allCases.map(\.rawValue).joined(separator: ", ")
            throw TraceError(line: line, column: 1, reason: "no transfer fails by `\(word)`; write one of \(known)")
        }
    }

    private func handler(_ name: String, _ line: Int) throws(TraceError) -> HandlerID {
        if let id = engine.catalog.handler(named: name) { return id }
        let known = engine.catalog.handlers.values.map { "`\($0.name)`" }.sorted().joined(separator: ", ")
        let reason = "this replay has no handler `\(name)`; it has \(known.isEmpty ? "none" : known)"
        throw TraceError(line: line, column: 1, reason: reason)
    }

    private func send(_ text: String, to handler: HandlerID, _ line: Int) throws(TraceError) {
        let message: InboxMessage
        do throws(ProtocolFault) { message = try InboxMessage(replaying: text) } catch {
            throw TraceError(line: line, column: 1, reason: "the message is refused: \(error)")
        }
        turn.schedule(.message(handler, message, ticket: 0))
    }

    /// Passes an answer beside the model's own. The core gets nothing of a handler without a process.
    private func say(_ text: String, as handler: HandlerID) {
        guard let epoch = turn.handlerStatus(of: handler)?.epoch else { return }
        do throws(ProtocolFault) {
            turn.ingest(.reply(handler, epoch, try ReplyLine.parse(Array(text.utf8)[...])))
        } catch {
            turn.ingest(.fault(handler, epoch, error))
        }
    }
}

extension PeripheralReport {
    /// - Parameter request: the number by which it is answered.
    fileprivate init(_ deed: CentralDeed, of address: String, as request: UInt64) {
        let central = PeripheralCentral(address, isBonded: true)
        switch deed {
        case .written(let uuid, let bytes):
            self = .written(PeripheralWrite(request: request, uuid, bytes, from: central))
        case .read(let uuid): self = .read(PeripheralRead(request: request, uuid, from: central))
        case .subscribed(let uuid): self = .subscribed(PeripheralSubscription(uuid, address), isBonded: true, mtu: 247)
        case .unsubscribed(let uuid): self = .unsubscribed(PeripheralSubscription(uuid, address))
        }
    }
}

extension InboxMessage {
    /// The line has been read as JSON by now.
    fileprivate init(replaying text: String) throws(ProtocolFault) {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else { throw .unreadableMessage }
        try self.init(json)
    }
}

extension ProtocolFault {
    fileprivate static let unreadableMessage = ProtocolFault(
        .malformed, "The message is no JSON.", advice: "Write {\"payload\":\"hello\"}.")
}
