// Reads ATT packets: the peer's attributes as they are discovered, and its notifications and indications.
import WakeHCI
import WakeModel
import WakeTrace

extension LinkFollower {
    mutating func readData(_ packet: HCIPacket) {
        let bytes = packet.bytes
        guard let head = bytes.word(0), let length = bytes.word(2), let body = bytes.slice(4, Int(length)) else {
            return warn("an ACL packet is shorter than it says", at: packet.offset)
        }
        let key = LinkKey(adapter: packet.adapter, handle: head & 0x0fff)
        guard !classic.contains(key) else { return }
        var link = links.removeValue(forKey: key) ?? ImportedLink(peer: -1)
        do {
            let frame = try link.add(body, boundary: head >> 12 & 3, isReceived: packet.isReceived)
            if let frame { read(frame: frame[...], of: &link, key, packet) }
        } catch {
            warn(sentence(error), at: packet.offset)
        }
        links[key] = link
    }

    private func sentence(_ fault: Reassembly.Fault) -> String {
        switch fault {
        case .noStart: "a fragment continues an L2CAP frame whose start is not in the capture"
        case .interrupted: "an L2CAP frame was left unfinished by a new one"
        case .tooLong: "fragments are longer than the L2CAP frame they belong to"
        }
    }

    private mutating func read(
        frame: ArraySlice<UInt8>, of link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        guard frame.word(2) == 4 else { return }
        let unit = frame.dropFirst(4)
        guard let opcode = unit.first else { return warn("an ATT unit is empty", at: packet.offset) }
        guard packet.isReceived else { return ask(opcode, unit, &link) }
        switch opcode {
        case 0x1b, 0x1d: addValue(opcode, unit, &link, key, packet)
        case 0x23: addValues(unit, &link, key, packet)
        case 0x05, 0x07, 0x09, 0x0b, 0x11: answer(opcode, unit, &link, packet)
        default: break
        }
    }

    /// A link without a connection event was up before the capture began; its first value reveals it.
    private mutating func identify(_ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket) -> Int {
        guard link.peer < 0 else { return link.peer }
        let handle = [UInt8(key.handle >> 8), UInt8(key.handle & 255)].map { [$0].hexadecimal.uppercased() }
        let adapter = [UInt8(key.adapter >> 8), UInt8(key.adapter & 255)].map { [$0].hexadecimal.uppercased() }
        let address = (["00", "00"] + adapter + handle).joined(separator: ":")
        link.peer = peer(at: address)
        counts.links += 1
        warn(
            "the link was up before the capture began, so its peer is unknown; it stands as \(address)",
            at: packet.offset)
        add(.connected, peer: link.peer)
        return link.peer
    }

    private mutating func addValue(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        guard let handle = unit.word(1) else { return warn("an ATT notification is too short", at: packet.offset) }
        if opcode == 0x1b { counts.notifications += 1 } else { counts.indications += 1 }
        add(.data(handle, Array(unit.dropFirst(3))), peer: identify(&link, key, packet))
    }

    /// Each value: handle, length, bytes.
    private mutating func addValues(
        _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ key: LinkKey, _ packet: HCIPacket
    ) {
        var place = 1
        while place < unit.count {
            guard let handle = unit.word(place), let length = unit.word(place + 2),
                let value = unit.slice(place + 4, Int(length))
            else { return warn("a notification of several values is shorter than it says", at: packet.offset) }
            counts.notifications += 1
            add(.data(handle, Array(value)), peer: identify(&link, key, packet))
            place += 4 + Int(length)
        }
    }

    private func ask(_ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink) {
        switch opcode {
        case 0x04: link.question = .none
        case 0x06:
            guard unit.word(5) == 0x2800, let uuid = BluetoothUUID(littleEndian: unit.dropFirst(7)) else { return }
            link.question = .service(uuid)
        case 0x08: link.question = question(unit.word(5), isShort: unit.count == 7)
        case 0x0a:
            let name = BluetoothUUID(short: 0x2a00)
            guard link.peer >= 0, let handle = unit.word(1) else {
                link.question = .none
                return
            }
            link.question = peers[link.peer].uuid(handle) == name ? .name : .none
        case 0x10: link.question = unit.word(5) == 0x2800 && unit.count == 7 ? .services : .none
        default: break
        }
    }

    private func question(_ type: UInt16?, isShort: Bool) -> ImportedLink.Question {
        guard isShort else { return .none }
        return type == 0x2803 ? .characteristics : type == 0x2a00 ? .name : .none
    }

    private mutating func answer(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ link: inout ImportedLink, _ packet: HCIPacket
    ) {
        // Discovery on a link that was up before the capture began also names the data of that link.
        let peer = identify(
            &link, LinkKey(adapter: packet.adapter, handle: (packet.bytes.word(0) ?? 0) & 0x0fff), packet)
        switch (opcode, link.question) {
        case (0x05, _): findInformation(unit, peer, packet)
        case (0x07, .service(let uuid)): peers[peer].offer(uuid)
        case (0x09, .characteristics):
            eachEntry(unit, 7, packet) { peers, entry in
                guard let handle = entry.word(3), let uuid = BluetoothUUID(littleEndian: entry.dropFirst(5)) else {
                    return
                }
                peers[peer].declare(handle, uuid)
            }
        case (0x09, .name): eachEntry(unit, 2, packet) { peers, entry in peers[peer].setName(entry.dropFirst(2)) }
        case (0x0b, .name): peers[peer].setName(unit.dropFirst())
        case (0x11, .services):
            eachEntry(unit, 6, packet) { peers, entry in
                if let uuid = BluetoothUUID(littleEndian: entry.dropFirst(4)) { peers[peer].offer(uuid) }
            }
        default: break
        }
    }

    private mutating func findInformation(_ unit: ArraySlice<UInt8>, _ peer: Int, _ packet: HCIPacket) {
        let width = unit.byte(1) == 1 ? 4 : 18
        let list = unit.dropFirst(2)
        guard unit.byte(1) == 1 || unit.byte(1) == 2, list.count.isMultiple(of: width) else {
            return warn("an answer to Find Information is no list", at: packet.offset)
        }
        for place in stride(from: 0, to: list.count, by: width) {
            guard let handle = list.word(place), let part = list.slice(place + 2, width - 2),
                let uuid = BluetoothUUID(littleEndian: part)
            else { continue }
            peers[peer].find(handle, uuid)
        }
    }

    /// Reads an answer that lists entries of one length; its second byte is that length.
    private mutating func eachEntry(
        _ unit: ArraySlice<UInt8>, _ least: Int, _ packet: HCIPacket,
        _ read: (inout [ImportedPeer], ArraySlice<UInt8>) -> Void
    ) {
        let list = unit.dropFirst(2)
        guard let width = unit.byte(1), width >= least, list.count.isMultiple(of: Int(width)) else {
            return warn("an answer to a discovery is no list of its entries' length", at: packet.offset)
        }
        for place in stride(from: 0, to: list.count, by: Int(width)) {
            if let entry = list.slice(place, Int(width)) { read(&peers, entry) }
        }
    }
}
