// What a link machine asks, as calls to the objects of org.bluez or to the kernel, and what comes back, as answers for it.
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

    func ask(_ request: LinkRequest, of uri: String, _ entry: Watched) {
        let answer: (LinkFailure?) -> Void = { [weak self] in self?.step(uri, .answered(request, $0)) }
        switch request {
        case .cut: order(.disconnect, entry, answer)
        case .letGo: letGo(entry, answer)
        case .block:
            // It holds at once, and while no bluetoothd is there to be told.
            if let peer = peer(of: entry) { kernel?.keepBlocked(peer) }
            askBluetoothd(request, of: uri, entry)
        case .unblock:
            if let peer = peer(of: entry) { kernel?.unblock(peer) }
            answer(nil)
            // Bluetoothd believes that the kernel still does.
            if entry.machine.facts.isReachable { order(.wait, entry) { _ in } }
        case .connect, .disconnect, .startNotify, .stopNotify, .readConfiguration, .read:
            askBluetoothd(request, of: uri, entry)
        }
    }

    private func askBluetoothd(_ request: LinkRequest, of uri: String, _ entry: Watched) {
        guard let call = call(request, entry) else { return step(uri, .answered(request, .unknownObject)) }
        client.call(call.path, call.interface, call.member, call.arguments, within: call.time) { [weak self] result in
            guard let self else { return }
            switch (result, request) {
            case (.failure(let error), _):
                var failure = LinkFailure(error)
                if failure == .noRoom, !noteNoRoom(on: entry.path.parent) {
                    failure = .other("the adapter refuses even a first link")
                }
                step(uri, .answered(request, failure))
            case (.success(let values), .read(let uuid)): step(uri, .read(uuid, values.first?.bytes ?? []))
            case (.success(let values), .readConfiguration(let uuid)):
                step(uri, .configuration(uuid, values.first?.bytes ?? []))
            case (.success, _): step(uri, .answered(request, nil))
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
        case .block:
            let arguments: [BusValue] = [.string(peripheral), .string("Blocked"), .variant(.boolean(true))]
            return Call(path: entry.path, interface: BluezInterface.properties, member: "Set", arguments: arguments)
        case .cut, .letGo, .unblock: return nil
        case .startNotify(let uuid): return channels[uuid].map { notify($0, "StartNotify") }
        case .stopNotify(let uuid): return channels[uuid].map { notify($0, "StopNotify") }
        case .read(let uuid):
            return path(of: uuid, entry).map { read($0, BluezInterface.characteristic) }
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

    /// Of several with one UUID the one that is listened to: its value is what the machine waits for.
    func path(of uuid: BluetoothUUID, _ entry: Watched) -> String? {
        if let channel = entry.machine.facts.channels[uuid] { return channel.path }
        return client.mirror.characteristics(of: entry.path).first { $0.characteristic.uuid == uuid }?.path
    }
}

// MARK: The kernel

extension BluetoothSource {
    private func order(_ order: KernelLinks.Order, _ entry: Watched, _ answer: @escaping (LinkFailure?) -> Void) {
        guard let kernel, let peer = peer(of: entry) else { return answer(.other("the kernel cannot be asked here")) }
        kernel.perform(order, on: peer, answer)
    }

    private func peer(of entry: Watched) -> KernelLinks.Peer? {
        let address = entry.device.uri.split(separator: "/").last.map(String.init) ?? ""
        return KernelLinks.Peer(address, isPublic: entry.hasPublicAddress, on: entry.path.parent)
    }

    private func letGo(_ entry: Watched, _ answer: @escaping (LinkFailure?) -> Void) {
        // With the bus gone too, bluetoothd may live on.
        guard client.hasBus else { return answer(.other("nobody knows whether bluetoothd is there")) }
        order(.stopWaiting, entry) { _ in }
        order(.disconnect, entry) { answer($0 == .notConnected ? nil : $0) }
    }
}

// MARK: Room for links

extension BluetoothSource {
    /// - Returns: false where there is nothing to wait for: it carries no link that might end.
    @discardableResult
    func noteNoRoom(on adapter: String) -> Bool {
        let links = links(on: adapter)
        if slots.refuse(adapter, carrying: links, at: clock().moment.monotonic) {
            let address = client.mirror.adapters[adapter]?.address ?? adapter
            log.warning(
                links > 0
                    ? "adapter \(address) carries \(links.counted("link")) and refuses another; the next waits until one ends"
                    : "adapter \(address) refuses even a first link; plug it in anew, or restart the machine")
        }
        noteRoom(on: adapter)
        return links > 0
    }

    /// A link more or less changes what may be tried of all others.
    func noteRoom(on adapter: String) {
        if slots.hasRefused(adapter) { refreshAll(on: adapter) }
    }

    func refreshAll(on adapter: String) {
        for (uri, entry) in watched where entry.path.parent == adapter { refresh(uri) }
    }

    func hasRoom(on adapter: String) -> Bool {
        !slots.hasRefused(adapter)
            || slots.hasRoom(adapter, carrying: links(on: adapter), at: clock().moment.monotonic)
    }

    func links(on adapter: String) -> Int {
        client.mirror.peripherals.count { $0.value.isConnected && $0.key.parent == adapter }
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
        // le-connection-…, br-connection-…; the kernel's ENOMEM stands for a controller whose memory is full.
        case _ where text.contains("connection-concurrent-connection-limit"): self = .noRoom
        case _ where text.contains("connection-memory-allocation"): self = .noRoom
        case "org.bluez.Error.InProgress": self = .inProgress
        case _ where error.isNotConnected: self = .notConnected
        case "org.bluez.Error.NotAuthorized": self = .unauthenticated
        default: self = .other(error.description)
        }
    }
}
