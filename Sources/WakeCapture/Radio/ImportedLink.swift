// An LE link of a capture, and its traffic: the peer's attributes as they are discovered, and its values.
import WakeHCI
import WakeModel
import WakeTrace

struct ImportedLink {
    /// The latest question to the peer, which gives its answer a meaning.
    enum Question {
        case none, services, characteristics, name
        case service(BluetoothUUID)
    }

    /// The peer's place among the devices; nil for a link that was up before the capture, until it sends something.
    private(set) var peer: Int?
    /// The peer's address if the capture never contains it.
    private let standIn: RadioAddress
    private var question = Question.none
    private var sent = Reassembly()
    private var received = Reassembly()

    init(peer: Int?, standIn: RadioAddress) {
        self.peer = peer
        self.standIn = standIn
    }

    /// Whether a fragment that continues can only be one that was sent.
    var isSending: Bool { sent.isOpen && !received.isOpen }

    /// Adds a fragment, and reads the frame that it completes.
    mutating func add(
        _ data: ArraySlice<UInt8>, continues: Bool, isReceived: Bool, to draft: inout TraceDraft, at offset: Int
    ) {
        do {
            let frame: ArraySlice<UInt8>?
            if isReceived {
                frame = try received.add(data, continues: continues)
            } else {
                frame = try sent.add(data, continues: continues)
            }
            if let frame { read(frame, isReceived: isReceived, &draft, at: offset) }
        } catch {
            draft.warn(error.sentence, at: offset)
        }
    }

    private mutating func read(
        _ frame: ArraySlice<UInt8>, isReceived: Bool, _ draft: inout TraceDraft, at offset: Int
    ) {
        guard frame.word(2) == 4 else { return }
        let unit = frame.dropFirst(4)
        guard let opcode = unit.first else { return draft.warn("an ATT unit is empty", at: offset) }
        guard isReceived else { return ask(opcode, unit, draft) }
        switch opcode {
        case 0x1b, 0x1d: addValue(opcode, unit, &draft, at: offset)
        case 0x23: addValues(unit, &draft, at: offset)
        case 0x05, 0x07, 0x09, 0x0b, 0x11: answer(opcode, unit, &draft, at: offset)
        default: break
        }
    }
}

// Values.
extension ImportedLink {
    /// A link without a connection event was up before the capture began; its first value reveals it.
    private mutating func identify(_ draft: inout TraceDraft, at offset: Int) -> Int? {
        if let peer { return peer }
        peer = draft.peripheral(standIn)
        draft.counts.links += 1
        draft.warn(
            "the link was up before the capture began, so its peer is unknown; it stands as \(standIn)", at: offset)
        if let peer { draft.connect(peer) }
        return peer
    }

    @inline(__always)
    private mutating func addValue(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ draft: inout TraceDraft, at offset: Int
    ) {
        guard let handle = unit.word(1) else { return draft.warn("an ATT notification is too short", at: offset) }
        if opcode == 0x1b { draft.counts.notifications += 1 } else { draft.counts.indications += 1 }
        if let peer = identify(&draft, at: offset) { draft.add(unit.dropFirst(3), of: .handle(handle), from: peer) }
    }

    /// Each value: handle, length, bytes.
    private mutating func addValues(_ unit: ArraySlice<UInt8>, _ draft: inout TraceDraft, at offset: Int) {
        var place = 1
        while place < unit.count {
            guard let handle = unit.word(place), let length = unit.word(place + 2),
                let value = unit.slice(place + 4, Int(length))
            else { return draft.warn("a notification of several values is shorter than it states", at: offset) }
            draft.counts.notifications += 1
            if let peer = identify(&draft, at: offset) { draft.add(value, of: .handle(handle), from: peer) }
            place += 4 + Int(length)
        }
    }
}

// Discovery.
extension ImportedLink {
    private mutating func ask(_ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ draft: TraceDraft) {
        switch opcode {
        case 0x04: question = .none
        case 0x06:
            guard unit.word(5) == 0x2800, let uuid = BluetoothUUID(littleEndian: unit.dropFirst(7)) else { return }
            question = .service(uuid)
        case 0x08: question = Self.question(unit.word(5), isShort: unit.count == 7)
        case 0x0a:
            let name = BluetoothUUID(short: 0x2a00)
            let asked = peer.flatMap { peer in unit.word(1).flatMap { draft.devices[peer].uuid($0) } }
            question = asked == name ? .name : .none
        case 0x10: question = unit.word(5) == 0x2800 && unit.count == 7 ? .services : .none
        default: break
        }
    }

    private static func question(_ type: UInt16?, isShort: Bool) -> Question {
        guard isShort else { return .none }
        return type == 0x2803 ? .characteristics : type == 0x2a00 ? .name : .none
    }

    /// Discovery on a link that was up before the capture began also names the data of that link.
    private mutating func answer(
        _ opcode: UInt8, _ unit: ArraySlice<UInt8>, _ draft: inout TraceDraft, at offset: Int
    ) {
        guard let peer = identify(&draft, at: offset) else { return }
        switch (opcode, question) {
        case (0x05, _): findInformation(unit, peer, &draft, at: offset)
        case (0x07, .service(let uuid)): draft.update(peer) { $0.offer(uuid) }
        case (0x09, .characteristics):
            for entry in entries(unit, 7, &draft, at: offset) {
                guard let handle = entry.word(3), let uuid = BluetoothUUID(littleEndian: entry.dropFirst(5)) else {
                    continue
                }
                draft.update(peer) { $0.declare(handle, uuid) }
            }
        case (0x09, .name):
            for entry in entries(unit, 2, &draft, at: offset) { draft.update(peer) { $0.setName(entry.dropFirst(2)) } }
        case (0x0b, .name): draft.update(peer) { $0.setName(unit.dropFirst()) }
        case (0x11, .services):
            for entry in entries(unit, 6, &draft, at: offset) {
                if let uuid = BluetoothUUID(littleEndian: entry.dropFirst(4)) { draft.update(peer) { $0.offer(uuid) } }
            }
        default: break
        }
    }

    private func findInformation(
        _ unit: ArraySlice<UInt8>, _ peer: Int, _ draft: inout TraceDraft, at offset: Int
    ) {
        let width = unit.byte(1) == 1 ? 4 : 18
        let list = unit.dropFirst(2)
        guard unit.byte(1) == 1 || unit.byte(1) == 2, list.count.isMultiple(of: width) else {
            return draft.warn("an answer to Find Information is no list", at: offset)
        }
        for place in stride(from: 0, to: list.count, by: width) {
            guard let handle = list.word(place), let part = list.slice(place + 2, width - 2),
                let uuid = BluetoothUUID(littleEndian: part)
            else { continue }
            draft.update(peer) { $0.find(handle, uuid) }
        }
    }

    /// The entries of an answer that lists them in one length, which is its second byte.
    private func entries(
        _ unit: ArraySlice<UInt8>, _ least: Int, _ draft: inout TraceDraft, at offset: Int
    ) -> [ArraySlice<UInt8>] {
        let list = unit.dropFirst(2)
        guard let width = unit.byte(1), width >= least, list.count.isMultiple(of: Int(width)) else {
            draft.warn("an answer to a discovery is no list of its entries' length", at: offset)
            return []
        }
        return stride(from: 0, to: list.count, by: Int(width)).compactMap { list.slice($0, Int(width)) }
    }
}
