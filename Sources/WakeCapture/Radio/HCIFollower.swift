// Follows the packets of Bluetooth controllers: which peer a handle belongs to, when links come and go, what peers send and
// advertise.
import WakeHCI
import WakeModel

struct HCIFollower {
    private struct LinkKey: Hashable {
        var adapter: UInt16
        var handle: UInt16
    }

    /// The most devices whose advertisements are remembered, in case a link to them follows.
    private static let advertisedLimit = 65_536

    /// Whether broadcasts become values.
    private let takesBroadcasts: Bool
    private var links: [LinkKey: ImportedLink] = [:]
    /// The link of the latest packet, kept apart: nearly all packets are of the same link as the one before.
    private var latest: (key: LinkKey, link: ImportedLink)?
    private var classic: Set<LinkKey> = []
    /// Advertisements from before a link, or without one.
    private var advertised: [RadioAddress: DraftDevice] = [:]
    private(set) var unheard = 0

    init(takesBroadcasts: Bool) { self.takesBroadcasts = takesBroadcasts }

    mutating func read(_ packet: HCIPacket, _ draft: inout TraceDraft) {
        switch packet.kind {
        case .data: readData(packet, &draft)
        case .event: readEvent(packet, &draft)
        case .end: endLinks("adapter-down", &draft) { key, _ in key.adapter == packet.adapter }
        case .command, .other: break
        }
    }

    private mutating func readData(_ packet: HCIPacket, _ draft: inout TraceDraft) {
        let bytes = packet.bytes
        guard let head = bytes.word(0), let length = bytes.word(2), let body = bytes.slice(4, Int(length)) else {
            return draft.warn("an ACL packet is shorter than it states", at: packet.offset)
        }
        let key = LinkKey(adapter: packet.adapter, handle: head & 0x0fff)
        if latest?.key != key {
            guard !classic.contains(key) else { return }
            select(key)
        }
        let boundary = head >> 12 & 3
        let isReceived = packet.isReceived ?? isReceived(boundary)
        latest?.link.add(body, continues: boundary == 1, isReceived: isReceived, to: &draft, at: packet.offset)
    }

    /// If the file does not contain it: an LE controller begins frames with 2, and its host with 0.
    private func isReceived(_ boundary: UInt16) -> Bool {
        boundary == 1 ? latest?.link.isSending != true : boundary == 2
    }

    private mutating func select(_ key: LinkKey) {
        putBack()
        let standIn = RadioAddress(number: UInt64(key.adapter) << 16 | UInt64(key.handle))
        latest = (key, links.removeValue(forKey: key) ?? ImportedLink(peer: nil, standIn: standIn))
    }

    private mutating func putBack() {
        if let (key, link) = latest { links[key] = link }
        latest = nil
    }
}

// Links that come and go.
extension HCIFollower {
    private mutating func readEvent(_ packet: HCIPacket, _ draft: inout TraceDraft) {
        let bytes = packet.bytes
        guard let code = bytes.byte(0), let length = bytes.byte(1), let body = bytes.slice(2, Int(length)) else {
            return draft.warn("an HCI event is shorter than it states", at: packet.offset)
        }
        if code == 0x3e, let subevent = body.first, subevent == 0x02 || subevent == 0x0d {
            return readReports(body, isExtended: subevent == 0x0d, &draft, at: packet.offset)
        }
        do {
            switch try LinkEvent(code: code, body: body) {
            case .connected(let handle, let address): connected(handle, address, packet, &draft)
            case .classicConnected(let handle): classicConnected(handle, packet, &draft)
            case .disconnected(let handle, let reason): disconnected(handle, reason, packet, &draft)
            case .unencrypted, .noRoom, .failed: break
            case .nothing: if code == 0x3e, body.isEmpty { draft.warn("an LE event has no code", at: packet.offset) }
            }
        } catch {
            draft.warn(error.reason, at: packet.offset)
        }
    }

    private mutating func connected(
        _ handle: UInt16, _ text: String, _ packet: HCIPacket, _ draft: inout TraceDraft
    ) {
        guard let address = RadioAddress(text) else { return }
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        draft.counts.links += 1
        guard let peer = peer(at: address, &draft) else { return }
        // A controller that was reset or unplugged does not report the end of its links.
        endLinks(disconnectReason(0x1f), &draft) { $0 == key || $1.peer == peer }
        links[key] = ImportedLink(peer: peer, standIn: address)
        classic.remove(key)
        draft.connect(peer)
    }

    private mutating func classicConnected(_ handle: UInt16, _ packet: HCIPacket, _ draft: inout TraceDraft) {
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        endLinks(disconnectReason(0x1f), &draft) { other, _ in other == key }
        classic.insert(key)
        draft.counts.classicLinks += 1
    }

    private mutating func disconnected(
        _ handle: UInt16, _ reason: UInt8, _ packet: HCIPacket, _ draft: inout TraceDraft
    ) {
        putBack()
        let key = LinkKey(adapter: packet.adapter, handle: handle)
        classic.remove(key)
        guard let peer = links.removeValue(forKey: key)?.peer else { return }
        draft.disconnect(peer, disconnectReason(reason))
    }

    /// In the order of their handles, so that a capture always gives the same trace.
    private mutating func endLinks(
        _ reason: String, _ draft: inout TraceDraft, where hasEnded: (LinkKey, ImportedLink) -> Bool
    ) {
        putBack()
        let ended = links.filter { hasEnded($0.key, $0.value) }
        for (key, link) in ended.sorted(by: { $0.key.handle < $1.key.handle }) {
            links[key] = nil
            if let peer = link.peer { draft.disconnect(peer, reason) }
        }
    }

    /// A new one starts with its earlier advertisements.
    private mutating func peer(at address: RadioAddress, _ draft: inout TraceDraft) -> Int? {
        guard let place = draft.peripheral(address) else { return nil }
        if let heard = advertised.removeValue(forKey: address) { draft.update(place) { $0.adopt(heard) } }
        return place
    }
}

// Advertisements.
extension HCIFollower {
    /// The reports of one event. The fields around the address, length and data of each depend on the form.
    private mutating func readReports(
        _ body: ArraySlice<UInt8>, isExtended: Bool, _ draft: inout TraceDraft, at offset: Int
    ) {
        let (address, length, trailing) = isExtended ? (3, 23, 0) : (2, 8, 1)
        var place = 2
        for _ in 0..<(body.byte(1) ?? 0) {
            guard let sender = body.number(place + address, 6, .little), let count = body.byte(place + length),
                let data = body.slice(place + length + 1, Int(count))
            else { return draft.warn("an advertising report is shorter than it states", at: offset) }
            advertise(RadioAddress(number: sender), data, &draft)
            place += length + 1 + Int(count) + trailing
        }
    }

    private mutating func advertise(_ address: RadioAddress, _ data: ArraySlice<UInt8>, _ draft: inout TraceDraft) {
        if takesBroadcasts { return draft.broadcast(data, from: address) }
        if !data.isEmpty { unheard += 1 }
        if let known = draft.peripheral(seen: address) { return draft.update(known) { $0.advertise(data) } }
        guard advertised[address] == nil, advertised.count >= Self.advertisedLimit else {
            advertised[address, default: .bystander].advertise(data)
            return
        }
    }
}
