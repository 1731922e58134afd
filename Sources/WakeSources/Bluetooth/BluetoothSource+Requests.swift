// What a link machine asks, as calls to the objects of org.bluez, and what comes back, as answers for the machine.
import WakeLoop
import WakeModel

extension BluetoothSource {
    private struct Call {
        var path: String
        var interface: String
        var member: String
        var arguments: [BusValue] = []
        var time = TimeSpan.seconds(15)
    }

    func ask(_ request: LinkRequest, of source: String, _ entry: Watched) {
        guard let call = call(request, entry) else { return step(source, .answered(request, .unknownObject)) }
        client.call(call.path, call.interface, call.member, call.arguments, within: call.time) { [weak self] result in
            guard let self else { return }
            switch (result, request) {
            case (.failure(let error), _): step(source, .answered(request, LinkFailure(error)))
            case (.success(let values), .read(let uuid)): step(source, .read(uuid, values.first?.bytes ?? []))
            case (.success(let values), .readConfiguration(let uuid)):
                step(source, .configuration(uuid, values.first?.bytes ?? []))
            case (.success, _): step(source, .answered(request, nil))
            }
        }
    }

    /// Nil where there is no such object any more.
    private func call(_ request: LinkRequest, _ entry: Watched) -> Call? {
        let peripheral = BluezInterface.peripheral
        let channels = entry.machine.facts.channels
        switch request {
        case .connect: return Call(path: entry.path, interface: peripheral, member: "Connect", time: .seconds(25))
        case .disconnect: return Call(path: entry.path, interface: peripheral, member: "Disconnect")
        case .startNotify(let uuid): return channels[uuid].map { notify($0, "StartNotify") }
        case .stopNotify(let uuid): return channels[uuid].map { notify($0, "StopNotify") }
        case .read(let uuid):
            let path = channels[uuid]?.path ?? path(of: uuid, entry)
            return path.map { read($0, BluezInterface.characteristic) }
        case .readConfiguration(let uuid):
            let path = channels[uuid].flatMap { client.mirror.configuration(of: $0.path) }
            return path.map { read($0, BluezInterface.descriptor) }
        }
    }

    private func notify(_ channel: LinkFacts.Channel, _ member: String) -> Call {
        Call(path: channel.path, interface: BluezInterface.characteristic, member: member)
    }

    private func read(_ path: String, _ interface: String) -> Call {
        Call(path: path, interface: interface, member: "ReadValue", arguments: [.properties([])])
    }

    func path(of uuid: BluetoothUUID, _ entry: Watched) -> String? {
        client.mirror.characteristics(of: entry.path).first { $0.characteristic.uuid == uuid }?.path
    }
}

extension LinkFailure {
    init(_ error: BusError) {
        let text = error.message.lowercased()
        let isAuthentication = ["authentication", "authorization", "encryption"].contains {
            text.contains("insufficient \($0)")
        }
        switch error.name {
        case _ where isAuthentication: self = .unauthenticated
        case _ where error.isTimeout: self = .timedOut
        case _ where error.isUnknownObject: self = .unknownObject
        case "org.bluez.Error.InProgress": self = .inProgress
        case "org.bluez.Error.NotConnected": self = .notConnected
        case "org.bluez.Error.NotAuthorized": self = .unauthenticated
        case "org.bluez.Error.Failed" where text.contains("not connected"): self = .notConnected
        default: self = .other(error.description)
        }
    }
}
