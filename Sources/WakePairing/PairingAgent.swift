// Bluetoothd's questions while it pairs (org.bluez.Agent1): an object that passes them on and carries answers back.
import WakeLoop
import WakeModel
import WakeSources

final class PairingAgent {
    private unowned let client: BluezClient
    private let peripheral: String
    private let hear: (PairingInput) -> Void
    private var object: BusObject?
    /// The request that waits for an answer; releasing it refuses it.
    private var waiting: BusRequest?

    private static let path = "/org/wakebridge/agent"
    private static let interface = "org.bluez.Agent1"
    private static let registry = "org.bluez.AgentManager1"

    init(_ client: BluezClient, for peripheral: String, _ hear: @escaping (PairingInput) -> Void) {
        self.client = client
        self.peripheral = peripheral
        self.hear = hear
    }

    /// We can type, show and compare: a smaller claim would talk both sides into a weaker proof. Never as the default
    /// agent: bluetoothd asks the agent of the program that pairs, and others answer for theirs.
    func register() {
        object = client.export(at: Self.path) { [unowned self] in answer($0) }
        let arguments: [BusValue] = [.objectPath(Self.path), .string("KeyboardDisplay")]
        client.call("/org/bluez", Self.registry, "RegisterAgent", arguments, within: .seconds(5)) {
            [weak self] result in
            guard let self, case .failure(let error) = result else { return }
            hear(.refusedAsAgent(error.description))
        }
    }

    func unregister() {
        waiting = nil
        object = nil
        client.call(
            "/org/bluez", Self.registry, "UnregisterAgent", [.objectPath(Self.path)], within: .seconds(2)
        ) { _ in }
    }

    func reply(_ reply: PairingReply) {
        defer { waiting = nil }
        switch reply {
        case .passkey(let number): waiting?.answer([.uint32(number)])
        case .pin(let text): waiting?.answer([.string(text)])
        case .yes: waiting?.answer()
        case .no: waiting?.refuse(.rejected)
        }
    }

    private func answer(_ request: BusRequest) {
        guard request.interface == Self.interface, request.sender == client.owner else {
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
        switch request.member {
        case "Release": request.answer()
        case "Cancel":
            request.answer()
            waiting = nil
            hear(.withdrawn)
        // The bridge answers neither another program's pairing, nor a peripheral's request for services of this
        // machine.
        case _ where request.arguments.first?.string != peripheral: request.refuse(.rejected)
        case "AuthorizeService": request.refuse(.rejected)
        case "DisplayPasskey": display(request, entered: request.arguments.dropFirst(2).first?.integer ?? 0)
        case "DisplayPinCode": display(request, entered: 0)
        default: ask(request)
        }
    }

    private func display(_ request: BusRequest, entered: Int64) {
        let shown = request.arguments.dropFirst().first
        request.answer()
        let text = shown?.integer.map { PairingText.digits(UInt32(truncatingIfNeeded: $0)) } ?? shown?.string ?? ""
        hear(.display(passkey: text, entered: Int(entered)))
    }

    private func ask(_ request: BusRequest) {
        let question: PairingQuestion
        switch request.member {
        case "RequestPasskey": question = .passkey
        case "RequestPinCode": question = .pin
        case "RequestConfirmation":
            let number = request.arguments.dropFirst().first?.integer ?? 0
            question = .comparison(UInt32(truncatingIfNeeded: number))
        case "RequestAuthorization": question = .consent
        default:
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
        waiting = request
        hear(.asked(question))
    }
}

extension BusError {
    fileprivate static let rejected = BusError(name: "org.bluez.Error.Rejected", message: "not agreed to")
}
