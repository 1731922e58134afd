// Reads HCI events: which peer a connection handle belongs to, when links come and go, what each peer advertises.
import WakeHCI
import WakeModel
import WakeTrace

extension LinkFollower {
    mutating func readEvent(_ packet: HCIPacket) {
        let bytes = packet.bytes
        guard let code = bytes.byte(0), let length = bytes.byte(1), let body = bytes.slice(2, Int(length)) else {
            return warn("an HCI event is shorter than it says", at: packet.offset)
        }
        do {
            switch try LinkEvent(code: code, body: body) {
            case .connected(let handle, let address): connected(handle, address, packet)
            case .classicConnected(let handle): classicConnected(handle, packet)
            case .disconnected(let handle, let reason): disconnected(handle, reason, packet)
            case .unencrypted, .noRoom, .failed: break
            case .nothing: if code == 0x3e { readLowEnergyEvent(body, packet) }
            }
        } catch {
            warn(error.reason, at: packet.offset)
        }
    }

    private mutating func readLowEnergyEvent(_ body: ArraySlice<UInt8>, _ packet: HCIPacket) {
        switch body.first {
        case 0x02: readAdvertisingReports(body, packet)
        case 0x0d: readExtendedAdvertisingReports(body, packet)
        case nil: warn("an LE event has no code", at: packet.offset)
        default: break
        }
    }

    private mutating func connected(_ handle: UInt16, _ address: String, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        let peer = peer(at: address)
        // A controller that was reset or unplugged does not report the end of its links.
        endLinks(disconnectReason(0x1f)) { $0 == key || $1.peer == peer }
        links[key] = ImportedLink(peer: peer)
        classic.remove(key)
        counts.links += 1
        add(.connected, peer: peer)
    }

    private mutating func classicConnected(_ handle: UInt16, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        endLinks(disconnectReason(0x1f)) { other, _ in other == key }
        classic.insert(key)
        counts.classicLinks += 1
    }

    private mutating func disconnected(_ handle: UInt16, _ reason: UInt8, _ packet: HCIPacket) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        classic.remove(key)
        if let link = links.removeValue(forKey: key) { add(.disconnected(disconnectReason(reason)), peer: link.peer) }
    }

    /// In the order of their handles, so that a capture always gives the same trace.
    mutating func endLinks(_ reason: String, where hasEnded: (LinkKey, ImportedLink) -> Bool) {
        let ended = links.filter { hasEnded($0.key, $0.value) }
        for (key, link) in ended.sorted(by: { $0.key.handle < $1.key.handle }) {
            links[key] = nil
            add(.disconnected(reason), peer: link.peer)
        }
    }

    /// Each report: event type, address type, address, length, data, signal strength.
    private mutating func readAdvertisingReports(_ body: ArraySlice<UInt8>, _ packet: HCIPacket) {
        var place = 2
        for _ in 0..<(body.byte(1) ?? 0) {
            guard let address = body.address(place + 2), let length = body.byte(place + 8),
                let data = body.slice(place + 9, Int(length))
            else { return warn("an advertising report is shorter than it says", at: packet.offset) }
            advertise(address, data)
            place += 10 + Int(length)
        }
    }

    private mutating func readExtendedAdvertisingReports(_ body: ArraySlice<UInt8>, _ packet: HCIPacket) {
        var place = 2
        for _ in 0..<(body.byte(1) ?? 0) {
            guard let address = body.address(place + 3), let length = body.byte(place + 23),
                let data = body.slice(place + 24, Int(length))
            else { return warn("an advertising report is shorter than it says", at: packet.offset) }
            advertise(address, data)
            place += 24 + Int(length)
        }
    }

    private mutating func advertise(_ address: String, _ data: ArraySlice<UInt8>) {
        if let peer = peerByAddress[address] { return peers[peer].advertise(data) }
        advertised[address, default: ImportedPeer(address: address)].advertise(data)
    }

    /// The peer's place in the trace; a new one starts with what it advertised before.
    mutating func peer(at address: String) -> Int {
        if let known = peerByAddress[address] { return known }
        peers.append(advertised.removeValue(forKey: address) ?? ImportedPeer(address: address))
        peerByAddress[address] = peers.count - 1
        return peers.count - 1
    }
}
