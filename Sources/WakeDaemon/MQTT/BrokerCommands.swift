// Commands by topics: each becomes the same call of the control API that the socket takes, and its answer is published.
import WakeAPI
import WakeControl
import WakeMQTT
import WakeModel
import WakeSystem

final class BrokerCommands {
    /// Called with how the answer is published, at once or when the device has answered.
    typealias Answering = (_ publish: @escaping (MQTTMessage) -> Void) -> Void

    private let allowed: CommandAllowance
    private let topics: BridgeTopics
    private let api: API
    private var unanswered = 0
    private var pace = RateLimiter(perSecond: 50, burst: 100, now: SystemClock.monotonic())
    private static let mostUnanswered = 20
    private var flood = SparseReport()
    private let log = Log("mqtt")

    init(_ allowed: CommandAllowance, of topics: BridgeTopics, _ api: API) {
        (self.allowed, self.topics, self.api) = (allowed, topics, api)
    }

    var isAnyAllowed: Bool { !allowed.entries.isEmpty }

    /// Nil for a message that is no command, and for one too many: an answer to each of a flood would be a flood as well.
    func receive(_ message: MQTTMessage) -> Answering? {
        guard let (kind, name) = BridgeCommand.target(of: message.topic, in: topics) else { return nil }
        // A cleared retained topic is empty.
        if message.isRetained, message.payload.isEmpty { return nil }
        let now = SystemClock.monotonic()
        guard pace.consume(now: now) else {
            if flood.count(at: now) != nil {
                log.warning("commands come faster than 50 a second; the rest is not answered")
            }
            return nil
        }
        return { [self] publish in
            perform(kind, name, message) { answer, reference in
                publish(MQTTMessage(message.topic + "/answer", BridgeCommand.answer(answer, to: reference)))
            }
        }
    }

    private func perform(
        _ kind: BridgeCommand.Kind, _ name: String, _ message: MQTTMessage,
        _ answer: @escaping ([UInt8], JSONValue?) -> Void
    ) {
        let command: BridgeCommand
        do throws(BridgeCommand.Refusal) {
            command = try BridgeCommand(kind, of: name, message)
            try require(command)
        } catch {
            return answer(ControlRefusal(error).json, nil)
        }
        switch api.answer(command.request) {
        case .json(_, let body): answer(body, command.reference)
        case .refusal(let refusal), .slowly(let refusal): answer(refusal.json, command.reference)
        case .later(let begin):
            unanswered += 1
            begin { [self] response in
                unanswered -= 1
                answer(response.body, command.reference)
            }
        case .text, .content, .stream: break
        }
    }

    private func require(_ command: BridgeCommand) throws(BridgeCommand.Refusal) {
        guard allowed.allows(command) else {
            throw BridgeCommand.Refusal(
                code: "not-permitted", message: "this command to \(command.kind.rawValue) is not allowed over MQTT",
                advice: "add \"\(command.kind.rawValue)\" to mqtt.allow in wakebridge.json5")
        }
        guard unanswered < Self.mostUnanswered else {
            throw BridgeCommand.Refusal(
                code: "too-many", message: "\(Self.mostUnanswered) commands wait for devices already",
                advice: "send the next one after an answer")
        }
    }
}

extension BridgeCommand {
    /// The request that a client of the control socket would send.
    fileprivate var request: ControlRequest {
        var members = kind == .wake ? [] : [JSONValue.Member(name: "device", value: .string(name))]
        if case .object(let own) = body { members += own }
        if kind == .wake {
            members = [
                JSONValue.Member(name: "what", value: .string("wake")),
                JSONValue.Member(name: "handler", value: .string(name)),
            ]
        }
        var writer = JSONWriter()
        writer.value(.object(members))
        return ControlRequest(posting: writer.bytes, to: path, as: .operate)
    }

    private var path: [String] {
        switch kind {
        case .session: ["v1", "devices", "session"]
        case .read: ["v1", "devices", "read"]
        case .write: ["v1", "devices", "write"]
        case .wake: ["v1", "simulate"]
        }
    }
}

extension ControlResponse {
    fileprivate var body: [UInt8] {
        switch self {
        case .json(_, let body): body
        case .refusal(let refusal), .slowly(let refusal): refusal.json
        case .text, .content, .stream, .later: []
        }
    }
}

extension ControlRefusal {
    fileprivate init(_ refusal: BridgeCommand.Refusal) {
        self.init(.badRequest, code: refusal.code, message: refusal.message, advice: refusal.advice)
    }
}
