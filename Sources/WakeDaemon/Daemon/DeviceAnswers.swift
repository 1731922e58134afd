// Answers about one device: which one is meant, its session, and an operator's reads and writes.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

extension ControlAnswers {
    // MARK: Which device is meant

    func device(_ name: String) throws(ControlRefusal) -> Catalog.DeviceEntry {
        switch bridge.catalog.device(named: name) {
        case .one(let entry): return entry
        case .several(let entries): throw ambiguous(name, entries.map(\.device))
        case .none: break
        }
        if let uri = sources.accessories?.uri(at: name), let entry = bridge.catalog.entry(of: uri) { return entry }
        let known = bridge.catalog.devices.compactMap { $0?.device.alias }
        throw ControlRefusal(
            .notFound, code: "unknown-device", message: "there is no device '\(name)'",
            advice: "see which there are with: wakebridge devices.\(suggestion(for: name, among: known))")
    }

    private func ambiguous(_ name: String, _ devices: [Device]) -> ControlRefusal {
        let meant = devices.map { "\($0.alias) (\($0.uri))" }.sorted().joined(separator: ", ")
        return ControlRefusal(
            .conflict, code: "ambiguous-device", message: "'\(name)' may be any of \(meant)",
            advice: "say more of its alias, or its source")
    }

    // MARK: Its session

    func setSession(of name: String, _ session: LinkSession) throws(ControlRefusal) -> ControlResponse {
        let entry = try device(name)
        let device = entry.device
        guard sources.session(of: device) != nil else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "device '\(name)' has no session to open, pause or close",
                advice: "the daemon watches no devices of its kind, or plays a trace in their place")
        }
        do throws(SystemError) {
            try sources.set(session, of: device)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the session of '\(name)' could not be kept: \(error.description)",
                advice: "fix the state directory and try again")
        }
        daemon.observers.broker?.deviceChanged(entry.id)
        return .json { writer in
            writer.object { writer in
                writer.field("done", true)
                writer.field("device", device.alias)
                writer.field("session", session.rawValue)
            }
        }
    }

    // MARK: Reading and writing

    /// A device may take its time, but no longer than this.
    private static let patience = TimeSpan.seconds(20)

    func perform(_ request: DeviceRequest) throws(ControlRefusal) -> ControlResponse {
        let entry = try device(request.address.device)
        let asked = request.addressed(to: entry.device.alias)
        return .later { [self] respond in
            let limit = try? bridge.loop.timer(on: .monotonic) { respond(.refusal(Self.silence(asked))) }
            limit?.arm(at: SystemClock.monotonic() + Self.patience)
            bridge.executor.requests.perform(asked, on: entry.device) { [self] answer in
                limit?.disarm()
                respond(response(to: asked, of: entry, answer))
            }
        }
    }

    private func response(
        to request: DeviceRequest, of entry: Catalog.DeviceEntry, _ answer: DeviceAnswer
    ) -> ControlResponse {
        switch answer {
        case .failure(let fault): .refusal(ControlRefusal(fault.withoutVerb(of: request), fault.code.status))
        case .success(.written(let device)):
            .json { $0.answer(device, request.address.channel, hexadecimal: nil, value: nil) }
        case .success(.read(let device, let bytes)):
            .json {
                $0.answer(device, request.address.channel, hexadecimal: bytes, value: value(of: bytes, request, entry))
            }
        }
    }

    /// Nil where the profile does not decode it, or cannot.
    private func value(of bytes: [UInt8], _ request: DeviceRequest, _ entry: Catalog.DeviceEntry) -> [UInt8]? {
        guard let profile = entry.profile, let channel = request.address.channel else { return nil }
        var writer = JSONWriter()
        let isDecoded = try? bridge.catalog.profiles.decoder(profile).decode(bytes, from: channel, into: &writer)
        return isDecoded == true ? writer.bytes : nil
    }

    private static func silence(_ request: DeviceRequest) -> ControlRefusal {
        ControlRefusal(
            .failed, code: ProtocolFault.Code.deviceFailed.rawValue,
            message: "\"\(request.address.device)\" did not answer the \(request.verb) in \(patience.spoken)",
            advice: "see how it is with: wakebridge devices \(request.address.device)")
    }
}

extension JSONWriter {
    fileprivate mutating func answer(_ device: String, _ channel: Channel?, hexadecimal: [UInt8]?, value: [UInt8]?) {
        beginObject()
        field("device", device)
        if let channel {
            let (name, text) = channel.wireName
            field(name, text)
        }
        if let hexadecimal {
            key("hex")
            self.hexadecimal(hexadecimal)
            key("value")
            if let value { fragment(value) } else { null() }
        } else {
            field("done", true)
        }
        endObject()
    }
}

extension ProtocolFault {
    /// The tool names its verb itself.
    fileprivate func withoutVerb(of request: DeviceRequest) -> ProtocolFault {
        var fault = self
        let verb = request.verb + " "
        if sentence.hasPrefix(verb) { fault.sentence = String(sentence.dropFirst(verb.count)) }
        return fault
    }
}

extension ProtocolFault.Code {
    fileprivate var status: ControlRefusal.Status {
        switch self {
        case .malformed, .unknownKey, .unknownToken, .tooLong: .badRequest
        case .noSuchDevice: .notFound
        case .replayed, .notPermitted, .notBonded, .notConnected, .conflict, .unavailable, .notRegistered, .tooLate,
            .tooMany:
            .conflict
        case .staleLease, .notDelivered, .noExtensionLeft, .tooManyTasks, .alreadyOpen, .notOpen, .deviceFailed,
            .tooFast:
            .failed
        }
    }
}
