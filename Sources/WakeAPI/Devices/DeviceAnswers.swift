// Answers about devices: which there are, their sessions, and an operator's reads and writes.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

extension Endpoint {
    private static let channel: [Schema.Key] = [
        .always("device", .name), .perhaps("characteristic", .name), .perhaps("stream", .name),
    ]

    static let devices: [Endpoint] = [
        Endpoint(
            .get("/v1/devices", .read), "all devices, or one", parameters: [Parameter("device", "the one device")],
            .json(.named(.devices))
        ) { api, asked throws(ControlRefusal) in
            guard let name = asked.named("device") else { return api.devices.all() }
            return try api.devices.one(name)
        },
        Endpoint(
            .post("/v1/devices/read", .operate), "reads a value", body: channel, .json(.named(.value)),
            reads: { asked throws(ControlRefusal) in
                try asked.body.request { json throws(ProtocolFault) in try DeviceRequest.read(from: json) }
            },
            answers: { api, _, request throws(ControlRefusal) in try api.devices.perform(request) }),
        Endpoint(
            .post("/v1/devices/write", .operate), "writes a value", body: channel + [.always("hex", .hexadecimal)],
            .json(.named(.written)),
            reads: { asked throws(ControlRefusal) in
                try asked.body.request { json throws(ProtocolFault) in try DeviceRequest.write(from: json) }
            },
            answers: { api, _, request throws(ControlRefusal) in try api.devices.perform(request) }),
        Endpoint(
            .post("/v1/devices/session", .operate), "opens, pauses or closes a session",
            body: [
                .always("device", .name), .always("session", .word(["open", "paused", "closed", "pause", "close"])),
            ],
            .json(.named(.session)),
            reads: { asked throws(ControlRefusal) in (try asked.body.require("device"), try asked.body.session()) },
            answers: { api, _, order throws(ControlRefusal) in try api.devices.setSession(of: order.0, order.1) }),
    ]
}

struct DeviceList: Described {
    let devices: [DeviceStatus]
    let doubts: [DoubtStatus]
    let unwatched: [UnwatchedStatus]

    static let shape = Shape<Self>([
        .always("devices", \.devices), .always("doubts", \.doubts), .always("unwatched", \.unwatched),
    ])
}

struct DeviceAnswers {
    let known: KnownDevices
    let requests: DeviceRequests
    let loop: EventLoop
    let owner: Owner

    func all() -> ControlResponse {
        let (devices, unwatched) = known.devicesAndMisses()
        return .json(DeviceList(devices: devices, doubts: known.doubts, unwatched: unwatched))
    }

    /// The one device that is meant, in the form of the list.
    func one(_ name: String) throws(ControlRefusal) -> ControlResponse {
        let entry = try known.device(name)
        let uri = entry.device.uri
        let devices = known.devicesAndMisses().devices.filter { $0.device.uri == uri }
        return .json(DeviceList(devices: devices.isEmpty ? [known.report(entry)] : devices, doubts: [], unwatched: []))
    }

    // MARK: Sessions

    func setSession(of name: String, _ session: LinkSession) throws(ControlRefusal) -> ControlResponse {
        let entry = try known.device(name)
        let device = entry.device
        guard known.sources.session(of: device) != nil else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "device '\(name)' has no session to open, pause or close",
                advice: "the daemon watches no devices of its kind, or plays a trace in their place")
        }
        do throws(SystemError) {
            try known.sources.set(session, of: device)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the session of '\(name)' could not be kept: \(error.description)",
                advice: "fix the state directory and try again")
        }
        owner.daemon.sessionChanged(of: entry.id)
        return .object { writer in
            writer.field("done", true)
            writer.field("device", device.alias)
            writer.field("session", session.rawValue)
        }
    }

    // MARK: Reading and writing

    /// A device may take its time, but no longer than this.
    private static let patience = TimeSpan.seconds(20)

    func perform(_ request: DeviceRequest) throws(ControlRefusal) -> ControlResponse {
        let entry = try known.device(request.address.device)
        let asked = request.addressed(to: entry.device.alias)
        return .later { [self] respond in
            let limit = try? loop.timer(on: .monotonic) { respond(.refusal(Self.silence(asked))) }
            limit?.arm(at: SystemClock.monotonic() + Self.patience)
            requests.perform(asked, on: entry.device) { [self] answer in
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
        let isDecoded = try? known.catalog.profiles.decoder(profile).decode(bytes, from: channel, into: &writer)
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
