// Follows Bluetooth LE over the air: advertisements, links by their access addresses, retransmissions, and encryption.
import WakeHCI
import WakeModel

struct AirLinkFollower {
    /// The state of one direction of a link.
    private struct Way {
        var sequence: UInt8?
        var digest: UInt64 = 0
    }

    private struct Link {
        var conversation: ImportedLink
        /// Nil for a link whose beginning was not received.
        var peer: Int?
        var seed: UInt32?
        var ways = [Way(), Way()]
        var isEncrypted = false
        var isEncryptionSaid = false
        /// When its latest packet ended, and which end sent it, if the capture does not contain that.
        var latest: (end: TimeSpan, direction: AirPacket.Direction)?
    }

    private static let linkLimit = 4_096
    private static let advertisingSeed: UInt32 = 0x55_5555

    private var links: [UInt32: Link] = [:]

    init() {}

    mutating func read(_ packet: AirPacket, _ draft: inout TraceDraft, at offset: Int) {
        guard packet.isWhole else { return draft.warn("a packet over the air is shorter than it states", at: offset) }
        if packet.accessAddress == AirPacket.advertising {
            guard packet.isGood ?? packet.fits(Self.advertisingSeed) else {
                draft.counts.dropped += 1
                return
            }
            return readAdvertising(packet.unit.dropLast(3), &draft)
        }
        var link = links.removeValue(forKey: packet.accessAddress) ?? stranger(packet)
        let isEnd = readData(packet, &link, &draft, at: offset)
        if !isEnd, links.count < Self.linkLimit { links[packet.accessAddress] = link }
    }

    /// A link that was up before the capture: its check cannot be verified, and its peer is unknown.
    private func stranger(_ packet: AirPacket) -> Link {
        let standIn = RadioAddress(number: UInt64(packet.accessAddress))
        return Link(conversation: ImportedLink(peer: nil, standIn: standIn))
    }
}

// Advertising channels.
extension AirLinkFollower {
    private mutating func readAdvertising(_ unit: ArraySlice<UInt8>, _ draft: inout TraceDraft) {
        let payload = unit.dropFirst(2)
        switch (unit.first ?? 0) & 0x0f {
        case 0x00, 0x02, 0x04, 0x06:
            guard let sender = payload.number(0, 6, .little) else { return }
            draft.broadcast(payload.dropFirst(6), from: RadioAddress(number: sender))
        case 0x05: connect(payload, &draft)
        case 0x07: readExtended(payload, &draft)
        default: break
        }
    }

    /// Behind the length, flags show which parts precede the data; only the sender is read.
    private func readExtended(_ payload: ArraySlice<UInt8>, _ draft: inout TraceDraft) {
        guard let length = payload.byte(0).map({ Int($0 & 0x3f) }), length > 6, let flags = payload.byte(1),
            flags & 1 == 1, let sender = payload.number(2, 6, .little), payload.count > 1 + length
        else { return }
        draft.broadcast(payload.dropFirst(1 + length), from: RadioAddress(number: sender))
    }

    /// CONNECT_IND: the two devices, the access address, and the seed of the check.
    private mutating func connect(_ payload: ArraySlice<UInt8>, _ draft: inout TraceDraft) {
        guard let advertiser = payload.number(6, 6, .little), let access = payload.number(12, 4, .little),
            let seed = payload.number(16, 3, .little)
        else { return }
        let address = RadioAddress(number: advertiser)
        draft.counts.links += 1
        guard let peer = draft.peripheral(address) else { return }
        for (key, link) in links where link.peer == peer {
            links[key] = nil
            draft.disconnect(peer, disconnectReason(0x1f))
        }
        links[UInt32(access)] = Link(
            conversation: ImportedLink(peer: peer, standIn: address), peer: peer, seed: UInt32(seed))
        draft.connect(peer)
    }
}

// Data channels.
extension AirLinkFollower {
    /// Whether the link ends with the packet.
    private func readData(
        _ packet: AirPacket, _ link: inout Link, _ draft: inout TraceDraft, at offset: Int
    ) -> Bool {
        guard packet.isGood ?? link.seed.map({ packet.fits($0) }) ?? true else {
            draft.counts.dropped += 1
            return false
        }
        let direction = packet.direction ?? guessed(packet, link, draft.latest)
        link.latest = (draft.latest + Self.airTime(packet), direction)
        let isReceived = direction == .toCentral
        let header = packet.unit.first ?? 0
        let payload = packet.unit.dropLast(3).dropFirst(header & 0x20 != 0 ? 3 : 2)
        guard isNew(header, payload, &link.ways[isReceived ? 1 : 0]) else {
            if !payload.isEmpty { draft.counts.dropped += 1 }
            return false
        }
        guard isReadable(packet, payload, &link, &draft, at: offset) else { return false }
        switch header & 3 {
        case 1, 2:
            guard !payload.isEmpty else { return false }
            link.conversation.add(
                payload, continues: header & 3 == 1, isReceived: isReceived, to: &draft, at: offset)
            return false
        case 3: return control(payload, &link, &draft)
        default: return false
        }
    }

    /// The same sequence number with the same bytes is sent again because it was not confirmed.
    private func isNew(_ header: UInt8, _ payload: ArraySlice<UInt8>, _ way: inout Way) -> Bool {
        var hash = FNV1a()
        hash.add(UInt64(header & 3))
        for byte in payload { hash.add(UInt64(byte)) }
        let sequence = header >> 3 & 1
        defer { way = Way(sequence: sequence, digest: hash.value) }
        return way.sequence != sequence || way.digest != hash.value
    }

    private func isReadable(
        _ packet: AirPacket, _ payload: ArraySlice<UInt8>, _ link: inout Link, _ draft: inout TraceDraft, at offset: Int
    ) -> Bool {
        switch packet.protection {
        case .decrypted: return true
        case .unknown: if !link.isEncrypted { return true }
        case .encrypted: link.isEncrypted = true
        }
        if !payload.isEmpty, !link.isEncryptionSaid {
            let name = link.peer.map { draft.devices[$0].facts.address } ?? "an unknown peer"
            draft.warn("the link to \(name) is encrypted from here on; nothing more of it can be read", at: offset)
            link.isEncryptionSaid = true
        }
        return false
    }

    /// Control packets: 2 ends the link, 5 begins encryption.
    private func control(_ payload: ArraySlice<UInt8>, _ link: inout Link, _ draft: inout TraceDraft) -> Bool {
        switch payload.first {
        case 0x02:
            if let peer = link.conversation.peer {
                draft.disconnect(peer, disconnectReason(payload.byte(1) ?? 0x1f))
            }
            return true
        case 0x05:
            link.isEncrypted = true
            return false
        default: return false
        }
    }

    /// If the capture does not contain it: an answer follows within 150 µs, and a later packet is the central's.
    private func guessed(_ packet: AirPacket, _ link: Link, _ now: TimeSpan) -> AirPacket.Direction {
        guard let (end, direction) = link.latest, now - end < .microseconds(500) else { return .toPeripheral }
        return direction == .toPeripheral ? .toCentral : .toPeripheral
    }

    /// At one megabit: a byte of preamble, four of the access address, then all of it.
    private static func airTime(_ packet: AirPacket) -> TimeSpan {
        .microseconds(Int64(5 + packet.unit.count) * 8)
    }
}
