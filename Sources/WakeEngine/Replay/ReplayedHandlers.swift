// What handlers and their operators do in a trace, told to the core as a daemon tells it.
import WakeCore
import WakeModel
import WakeProfiles
import WakeTrace

extension VirtualReplay {
    func apply(_ deed: HandlerOperation, to name: String, of line: Int) throws(TraceError) {
        // What the trace's own handlers did means nothing to those that take their place.
        guard manifests.isEmpty || bridge.engine.catalog.handler(named: name) != nil else { return }
        switch deed {
        case .manifest(let text): if manifests.isEmpty { try adopt(name, text, line) }
        case .remove: if manifests.isEmpty { bridge.engine.dismiss(try handler(name, line)) }
        case .say(let text): say(text, as: try handler(name, line))
        case .attach: turn.ingest(.operated(try handler(name, line), .attach))
        case .detach: turn.ingest(.operated(try handler(name, line), .detach))
        case .stop: turn.ingest(.operated(try handler(name, line), .stop))
        case .start: turn.ingest(.operated(try handler(name, line), .start))
        }
    }

    private func adopt(_ name: String, _ text: String, _ line: Int) throws(TraceError) {
        do throws(ConfigurationErrors) {
            let manifest = try HandlerManifest(
                replaying: name, file: name, text: Array(text.utf8), ground.profiles)
            // Each life of a recorded daemon tells of all again.
            guard !bridge.manifests.contains(manifest) else { return }
            bridge.engine.adopt(manifest)
        } catch {
            throw TraceError(line: line, column: 1, reason: "the manifest is refused: \(error)")
        }
    }

    private func handler(_ name: String, _ line: Int) throws(TraceError) -> HandlerID {
        if let id = bridge.engine.catalog.handler(named: name) { return id }
        let known = bridge.manifests.map { "`\($0.id)`" }.joined(separator: ", ")
        let reason = "this replay has no handler `\(name)`; it has \(known.isEmpty ? "none" : known)"
        throw TraceError(line: line, column: 1, reason: reason)
    }

    /// Beside what the model says by itself. Of a handler without a process the core hears nothing.
    private func say(_ text: String, as handler: HandlerID) {
        guard let epoch = turn.handlerStatus(of: handler)?.epoch else { return }
        do throws(ProtocolFault) {
            turn.ingest(.reply(handler, epoch, try ReplyLine.parse(Array(text.utf8)[...])))
        } catch {
            turn.ingest(.fault(handler, epoch, error))
        }
    }
}
