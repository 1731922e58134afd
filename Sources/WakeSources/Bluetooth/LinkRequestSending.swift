// Sends a link machine's requests as calls to the objects of org.bluez or to the kernel, and returns the answers.
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

    func ask(_ request: LinkRequest, of uri: String, _ entry: Entry) {
        let answer: (LinkFailure?) -> Void = { [weak self] in self?.step(uri, .answered(request, $0)) }
        switch request {
        case .cut: order(.disconnect, entry, answer)
        case .letGo: letGo(entry, answer)
        case .block:
            // It takes effect at once, and while there is no bluetoothd to call.
            if let peer = peer(of: entry) { kernel?.keepBlocked(peer) }
            askBluetoothd(request, of: uri, entry)
        case .unblock:
            if let peer = peer(of: entry) { kernel?.unblock(peer) }
            answer(nil)
            // Bluetoothd believes that the kernel still waits for it.
            if entry.machine.facts.isReachable { order(.wait, entry) { _ in } }
        case .ask(let asked):
            guard case .characteristic(let uuid) = asked.question.to else { return answer(.unknownObject) }
            write(asked.question.bytes, to: uuid, of: uri) { answer(LinkFailure($0)) }
        case .connect, .disconnect, .startNotify, .stopNotify, .readConfiguration, .read:
            askBluetoothd(request, of: uri, entry)
        }
    }

    private func askBluetoothd(_ request: LinkRequest, of uri: String, _ entry: Entry) {
        guard let call = call(request, entry) else { return step(uri, .answered(request, .unknownObject)) }
        client.call(call.path, call.interface, call.member, call.arguments, within: call.time) { [weak self] result in
            guard let self else { return }
            switch (result, request) {
            case (.failure(let error), _):
                var failure = LinkFailure(error)
                if failure == .noRoom, !recordFullAdapter(on: entry.path.parent) {
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
    private func call(_ request: LinkRequest, _ entry: Entry) -> Call? {
        let peripheral = BluezInterface.peripheral
        let channels = entry.machine.facts.channels
        switch request {
        case .connect: return Call(path: entry.path, interface: peripheral, member: "Connect", time: .seconds(25))
        case .disconnect: return Call(path: entry.path, interface: peripheral, member: "Disconnect")
        case .block:
            let arguments: [BusValue] = [.string(peripheral), .string("Blocked"), .variant(.boolean(true))]
            return Call(path: entry.path, interface: BluezInterface.properties, member: "Set", arguments: arguments)
        case .cut, .letGo, .unblock, .ask: return nil
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

    /// The first of several with one UUID is followed: the machine waits for its value.
    func path(of uuid: CharacteristicName, _ entry: Entry) -> String? {
        if let channel = entry.machine.facts.channels[uuid] { return channel.path }
        return client.mirror.characteristics(of: entry.path, named: uuid.uuid)
            .dropFirst(Int(uuid.number) - 1).first?.path
    }
}

// MARK: The kernel

extension BluetoothSource {
    private func order(_ order: MgmtClient.Order, _ entry: Entry, _ answer: @escaping (LinkFailure?) -> Void) {
        guard let kernel, let peer = peer(of: entry) else { return answer(.other("the kernel cannot be asked here")) }
        kernel.perform(order, on: peer, answer)
    }

    private func peer(of entry: Entry) -> MgmtClient.Peer? {
        let address = entry.device.uri.split(separator: "/").last.map(String.init) ?? ""
        return MgmtClient.Peer(address, isPublic: entry.hasPublicAddress, on: entry.path.parent)
    }

    private func letGo(_ entry: Entry, _ answer: @escaping (LinkFailure?) -> Void) {
        // With the bus gone too, bluetoothd may still run.
        guard client.hasBus else { return answer(.other("the message bus is gone, so bluetoothd may be there")) }
        order(.stopWaiting, entry) { _ in }
        order(.disconnect, entry) { answer($0 == .notConnected ? nil : $0) }
    }
}

// MARK: Room for links

extension BluetoothSource {
    /// - Returns: false where there is nothing to wait for: it carries no link that might end.
    @discardableResult
    func recordFullAdapter(on adapter: String) -> Bool {
        let links = links(on: adapter)
        if slots.refuse(adapter, carrying: links, at: host.clock.now().monotonic) {
            let address = client.mirror.adapters[adapter]?.address ?? adapter
            log.warning(
                links > 0
                    ? "adapter \(address) carries \(links.counted("link")) and refuses another; the next waits until one ends"
                    : "adapter \(address) refuses even a first link; plug it in again, or restart the machine")
        }
        refreshWaiting(on: adapter)
        rearm()
        return links > 0
    }

    /// A link more or less changes the attempts that all others may make.
    func refreshWaiting(on adapter: String) {
        if slots.hasRefused(adapter) { refreshAll(on: adapter) }
    }

    func refreshAll(on adapter: String) {
        for (uri, entry) in watched where entry.path.parent == adapter { refresh(uri) }
    }

    func hasRoom(on adapter: String) -> Bool {
        !slots.hasRefused(adapter)
            || slots.hasRoom(adapter, carrying: links(on: adapter), at: host.clock.now().monotonic)
    }

    func links(on adapter: String) -> Int {
        client.mirror.peripherals.count { $0.value.isConnected && $0.key.parent == adapter }
    }
}

extension LinkFailure {
    /// Nil where it was written.
    fileprivate init?(_ result: Result<Void, TalkFailure>) {
        switch result {
        case .success: return nil
        case .failure(.notConnected): self = .notConnected
        case .failure(.notOffered(let why)), .failure(.refused(let why)): self = .other(why)
        }
    }

    init(_ error: BusError) {
        let text = error.message.lowercased()
        let isAuthentication = ["authentication", "authorization", "encryption"].contains {
            text.contains("insufficient \($0)")
        }
        switch error.name {
        case _ where isAuthentication: self = .unauthenticated
        case _ where error.isTimeout: self = .timedOut
        case _ where error.isUnknownObject: self = .unknownObject
        // le-connection-…, br-connection-…; the kernel's ENOMEM means that the controller's memory is full.
        case _ where text.contains("connection-concurrent-connection-limit"): self = .noRoom
        case _ where text.contains("connection-memory-allocation"): self = .noRoom
        case "org.bluez.Error.InProgress": self = .inProgress
        case _ where error.isNotConnected: self = .notConnected
        case "org.bluez.Error.NotAuthorized": self = .unauthenticated
        default: self = .other(error.description)
        }
    }
}

// MARK: Reads and writes of handlers

extension BluetoothSource {
    /// An attribute transaction ends after 30 s (Core Specification, Vol 3, Part F, 3.3.3); waiting longer is of no use.
    private static let transaction = TimeSpan.seconds(32)

    /// Reads a characteristic's whole value; `answer` is called exactly once.
    public func read(
        _ uuid: CharacteristicName, of uri: String, _ answer: @escaping (Result<[UInt8], TalkFailure>) -> Void
    ) {
        switch target(uuid, of: uri, needs: ["read"]) {
        case .failure(let failure): answer(.failure(failure))
        case .success(let target):
            // Bluetoothd reports a read's value as if the peripheral had notified it; the machine knows which one not
            // to believe.
            step(uri, .handlerReads(uuid))
            client.call(
                target.path, BluezInterface.characteristic, "ReadValue", [.properties([])], within: Self.transaction
            ) { [weak self] result in
                let answered = result.map { $0.first?.bytes ?? [] }.mapError { TalkFailure($0) }
                self?.step(uri, .handlerRead(uuid, try? answered.get()))
                answer(answered)
            }
        }
    }

    /// Writes a characteristic's value, with a response where the peripheral gives one; longer values than a packet holds
    /// go in parts, which bluetoothd makes.
    public func write(
        _ bytes: [UInt8], to uuid: CharacteristicName, of uri: String,
        _ answer: @escaping (Result<Void, TalkFailure>) -> Void
    ) {
        switch target(uuid, of: uri, needs: ["write", "write-without-response"]) {
        case .failure(let failure): answer(.failure(failure))
        case .success(let target):
            let way = target.flags.contains("write") ? "request" : "command"
            let arguments: [BusValue] = [.bytes(bytes), .properties([("type", .string(way))])]
            client.call(
                target.path, BluezInterface.characteristic, "WriteValue", arguments, within: Self.transaction
            ) { result in
                answer(result.map { _ in }.mapError { TalkFailure($0) })
            }
        }
    }

    private struct Target {
        var path: String
        var flags: Set<String>
    }

    private func target(
        _ uuid: CharacteristicName, of uri: String, needs flags: Set<String>
    ) -> Result<Target, TalkFailure> {
        guard let entry = watched[uri], entry.machine.isReady else { return .failure(.notConnected) }
        guard let path = path(of: uuid, entry), let found = client.mirror.characteristic(at: path) else {
            return .failure(.notOffered("it has no characteristic \(uuid)"))
        }
        guard !found.flags.isDisjoint(with: flags) else {
            let can = found.flags.sorted().joined(separator: ", ")
            return .failure(.notOffered("its characteristic \(uuid) can only: \(can)"))
        }
        return .success(Target(path: path, flags: found.flags))
    }
}

extension TalkFailure {
    init(_ error: BusError) {
        if error.isNotConnected {
            self = .notConnected
        } else if error.isTimeout {
            self = .refused("it did not answer within 30 s")
        } else {
            self = .refused(Self.words(in: error.message) ?? error.description)
        }
    }

    /// The meaning of an attribute protocol code, if bluetoothd only names it: `… ATT error: 0x0d`.
    static func words(in message: String) -> String? {
        let pieces = message.lowercased().split(separator: "0x", maxSplits: 1, omittingEmptySubsequences: false)
        guard pieces.count == 2, pieces[0].contains("att") else { return nil }
        guard let code = UInt8(pieces[1].prefix { $0.isHexDigit }, radix: 16) else { return nil }
        let hexadecimal = "0x" + (code < 16 ? "0" : "") + String(code, radix: 16)
        return "\(AttributeFault.words(for: code)) (ATT error \(hexadecimal))"
    }
}

/// Error codes of the attribute protocol (Core Specification, Vol 3, Part F, 3.4.1.1, and the Supplement, Part B).
enum AttributeFault {
    static func words(for code: UInt8) -> String {
        switch code {
        case 0x01: "there is no such handle"
        case 0x02: "it may not be read"
        case 0x03: "it may not be written"
        case 0x04: "the request was not understood"
        case 0x05: "it wants a bond first"
        case 0x06: "it does not know such a request"
        case 0x07: "the offset is beyond the value's end"
        case 0x08: "it is not authorised"
        case 0x09: "too many parts are waiting to be written"
        case 0x0a: "there is no such attribute"
        case 0x0b: "the value is too long for this way of reading"
        case 0x0c: "its key is too short"
        case 0x0d: "the value has a length that it does not take"
        case 0x0e: "it failed for a reason of its own"
        case 0x0f: "it wants an encrypted link"
        case 0x10: "it does not group by that type"
        case 0x11: "it has no room left"
        case 0x12: "its database has changed"
        case 0x13: "the value is not allowed"
        case 0x80...0x9f: "it refused for a reason of its own"
        case 0xfc: "it refused the write"
        case 0xfd: "its client configuration is not as it must be"
        case 0xfe: "a procedure is already at work"
        case 0xff: "the value is out of range"
        default: "it refused"
        }
    }
}
