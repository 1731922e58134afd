// Verbs of the tool as streamed answers: what is near by, a pairing with its questions, a replay of a trace.
import WakeControl
import WakeLoop
import WakeModel
import WakeSystem

final class ToolStreams {
    enum Dialogue: Hashable {
        case neighbours
        case pairing(Int64)
        /// The file is removed at its end.
        case replay(file: String)
    }

    private struct Running {
        var dialogue: Dialogue
        var tool: ToolRun
        var stream: ControlStream
    }

    private let programs: ToolPrograms
    private var running: [Running] = []
    private var pairings: Int64 = 0

    init(_ programs: ToolPrograms) { self.programs = programs }

    // MARK: Beginning

    func neighbours() throws(ControlRefusal) -> ControlResponse {
        try refuseMore(.neighbours)
        return stream(.neighbours, ["scan", "--json", "--all", "--for", "10m"])
    }

    func pair(_ order: PairingOrder) throws(ControlRefusal) -> ControlResponse {
        for word in [order.device, order.alias].compactMap({ $0 }) where word.hasPrefix("-") {
            throw ControlRefusal(
                .badRequest, code: "bad-value", message: "'\(word)' begins with a hyphen, so it names nothing",
                advice: "send the device's address, and a name of letters")
        }
        pairings += 1
        let dialogue = Dialogue.pairing(pairings)
        try refuseMore(dialogue)
        let alias = order.alias.map { ["--alias", $0] } ?? []
        return stream(dialogue, ["pair", "--json", "--dialogue"] + alias + [order.device])
    }

    func replay(_ file: String, manifest: String) throws(ControlRefusal) -> ControlResponse {
        let dialogue = Dialogue.replay(file: file)
        do throws(ControlRefusal) { try refuseMore(dialogue) } catch {
            end(dialogue)
            throw error
        }
        return stream(dialogue, ["replay", "--json", "--speed", "max", "--manifest", manifest, file])
    }

    private func refuseMore(_ dialogue: Dialogue) throws(ControlRefusal) {
        let others = running.count { $0.dialogue.kind == dialogue.kind }
        guard others >= dialogue.mostAtOnce else { return }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "\(dialogue.kind) is at work already, for another client",
            advice: "wait until that ends")
    }

    private func stream(_ dialogue: Dialogue, _ words: [String]) -> ControlResponse {
        .stream(contentType: "application/x-ndjson") { [self] stream in
            if case .pairing(let id) = dialogue { stream.send(JSONWriter.line { $0.field("pairing", id) }) }
            do throws(ControlRefusal) {
                let tool = try programs.begin(words, patience: dialogue.patience, of: self) { $0.attend() }
                running.append(Running(dialogue: dialogue, tool: tool, stream: stream))
                stream.onClose = { _ in tool.interrupt() }
            } catch {
                stream.send(error.json)
                stream.close()
                end(dialogue)
            }
        }
    }

    // MARK: Going on

    func answer(_ answer: PairingAnswer) throws(ControlRefusal) -> ControlResponse {
        guard let one = running.first(where: { $0.dialogue == .pairing(answer.pairing) }) else {
            throw .unknownPairing(answer.pairing)
        }
        one.tool.say(
            JSONWriter.line { writer in
                switch answer.word {
                case .passkey(let text): writer.field("passkey", text)
                case .agrees(let agrees): writer.field("agrees", agrees)
                }
            })
        return .done
    }

    private func attend() {
        let all = running
        for one in all {
            for news in one.tool.advance() {
                switch news {
                case .said(let bytes, let json):
                    if let line = one.dialogue.line(of: bytes, json) { one.stream.send(line) }
                case .ended(let refusal): conclude(one, refusal)
                }
            }
        }
    }

    private func conclude(_ one: Running, _ refusal: ControlRefusal?) {
        running.removeAll { $0.tool === one.tool }
        if let refusal { one.stream.send(refusal.json) }
        one.stream.close()
        end(one.dialogue)
    }

    private func end(_ dialogue: Dialogue) {
        switch dialogue {
        case .neighbours, .pairing: break
        case .replay(let file): try? File.remove(file)
        }
    }

    /// The daemon ends.
    func close() {
        for one in running {
            one.tool.abandon()
            end(one.dialogue)
        }
        running = []
    }
}

extension ToolStreams.Dialogue {
    fileprivate var kind: String {
        switch self {
        case .neighbours: "a search for neighbours"
        case .pairing: "a pairing"
        case .replay: "a replay"
        }
    }

    fileprivate var mostAtOnce: Int {
        switch self {
        case .neighbours: 2
        case .pairing, .replay: 1
        }
    }

    fileprivate var patience: TimeSpan {
        switch self {
        case .neighbours, .replay: .seconds(630)
        case .pairing: .seconds(180)
        }
    }

    /// The line as a client gets it; nil for one without news for it.
    fileprivate func line(of bytes: [UInt8], _ json: JSONValue) -> [UInt8]? {
        switch self {
        case .neighbours: json.neighbour
        case .pairing: json["note"]?.string.map { note in JSONWriter.line { $0.field("step", note) } } ?? bytes + [0x0a]
        case .replay: bytes + [0x0a]
        }
    }
}

extension JSONValue {
    /// A row of `wakebridge scan --json`; nil for an accessory, which has no radio.
    fileprivate var neighbour: [UInt8]? {
        if let note = self["note"]?.string { return JSONWriter.line { $0.field("note", note) } }
        guard let address = self["address"]?.string, self["state"] == nil else { return nil }
        return JSONWriter.line { writer in
            writer.object("neighbour") { writer in
                writer.field("address", address)
                writer.field("name", self["name"]?.string)
                writer.field("rssi", self["signal"]?.integer)
                writer.field("profile", self["profile"]?.string)
                writer.field("alias", self["alias"]?.string)
                writer.field("bonded", self["bonded"]?.boolean ?? false)
                writer.field("connected", self["connected"]?.boolean ?? false)
            }
        }
    }
}
