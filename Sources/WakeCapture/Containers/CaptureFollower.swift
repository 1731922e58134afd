// Hands the records of a capture to the follower of their kind: controllers, the air, USB.
import WakeHCI
import WakeModel

struct CaptureFollower {
    var draft: TraceDraft
    private var hci: HCIFollower
    private var air = AirLinkFollower()
    private var usb = USBFollower()
    private let pace: ImportPace
    private var snipped = 0
    private var firstSnip = 0
    private var strange: [LinkType: (count: Int, first: Int)] = [:]
    /// Whether some record was of a link type that is known.
    private var isKnown = false
    /// Files of link type 201 whose direction is written the other way round, which a command or an event gives away.
    private var isReversed = false

    init(_ draft: TraceDraft, _ terms: ImportTerms) {
        self.draft = draft
        hci = HCIFollower(takesBroadcasts: terms.takesBroadcasts)
        pace = terms.pace
    }

    @inline(__always)
    mutating func read(_ packet: HCIPacket) { hci.read(packet, &draft) }

    /// A time that does not fit into nanoseconds is no date.
    @inline(__always)
    mutating func advance(toMicroseconds time: (partialValue: Int64, overflow: Bool), at offset: Int) {
        let scaled = time.partialValue.multipliedReportingOverflow(by: 1000)
        draft.advance(to: time.overflow || scaled.overflow ? -1 : scaled.partialValue, at: offset)
    }

    mutating func warnSnipped(at offset: Int) {
        if snipped == 0 { firstSnip = offset }
        snipped += 1
    }

    mutating func read(_ frame: CaptureFrame) {
        if let time = frame.time {
            draft.advance(to: time, at: frame.offset)
        } else {
            draft.advance(by: pace.step)
        }
        if frame.isSnipped {
            warnSnipped(at: frame.offset)
            guard frame.link.isUSB else {
                isKnown = isKnown || frame.link.isKnown
                return
            }
        }
        read(frame.bytes, frame.link, frame)
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>, _ link: LinkType, _ frame: CaptureFrame) {
        switch link {
        case .h4: readH4(bytes, isReceived: frame.isReceived, frame)
        case .directedH4: readDirected(bytes, frame)
        case .monitor: readMonitor(bytes, frame)
        case .perPacket: return readPerPacket(bytes, frame)
        case .air: air.read(AirPacket(plain: bytes), &draft, at: frame.offset)
        case .heardAir: air.read(AirPacket(heard: bytes), &draft, at: frame.offset)
        case .nordic: air.read(AirPacket(nordic: bytes), &draft, at: frame.offset)
        case .earlyNordic:
            let packet = AirPacket(nordic: bytes)
            guard packet.isWhole else {
                strange[.unknown(157), default: (0, frame.offset)].count += 1
                return
            }
            air.read(packet, &draft, at: frame.offset)
        case .usb: usb.read(USBPacket(linux: bytes, header: 48, frame.order), &draft, at: frame.offset)
        case .usbMapped: usb.read(USBPacket(linux: bytes, header: 64, frame.order), &draft, at: frame.offset)
        case .usbPcap: usb.read(USBPacket(usbPcap: bytes), &draft, at: frame.offset)
        case .unknown:
            strange[link, default: (0, frame.offset)].count += 1
            return
        }
        isKnown = true
    }

    private mutating func readH4(_ bytes: ArraySlice<UInt8>, isReceived: Bool?, _ frame: CaptureFrame) {
        var packet = HCIPacket(h4: bytes, isReceived: isReceived, at: frame.offset)
        packet.adapter = frame.interface
        hci.read(packet, &draft)
    }

    /// Four bytes, of which the lowest bit is set for what was received. Commands are always sent, events always received.
    private mutating func readDirected(_ bytes: ArraySlice<UInt8>, _ frame: CaptureFrame) {
        guard let direction = bytes.number(0, 4, .big), let type = bytes.byte(4) else {
            return draft.warn("a packet has no direction", at: frame.offset)
        }
        let isSet = direction & 1 == 1
        if type == 1 { isReversed = isSet } else if type == 4 { isReversed = !isSet }
        readH4(bytes.dropFirst(4), isReceived: isSet != isReversed, frame)
    }

    private mutating func readMonitor(_ bytes: ArraySlice<UInt8>, _ frame: CaptureFrame) {
        guard let adapter = bytes.number(0, 2, .big), let opcode = bytes.number(2, 2, .big) else {
            return draft.warn("a packet of the monitor has no adapter and opcode", at: frame.offset)
        }
        hci.read(
            HCIPacket(monitor: UInt16(opcode), adapter: UInt16(adapter), at: frame.offset, bytes.dropFirst(4)), &draft)
    }

    /// Version, flags, the length of the header, and the link type of what follows; 147 is what ubertooth wrote before
    /// there was a number for Bluetooth LE.
    private mutating func readPerPacket(_ bytes: ArraySlice<UInt8>, _ frame: CaptureFrame) {
        guard let length = bytes.number(2, 2, .little), let number = bytes.number(4, 4, .little), length >= 8,
            let body = bytes.slice(Int(length), bytes.count - Int(length))
        else { return draft.warn("a packet's header is shorter than it states", at: frame.offset) }
        let link = number == 147 ? LinkType.air : LinkType(UInt32(number))
        guard link != .perPacket else { return draft.warn("a packet's header names itself", at: frame.offset) }
        read(body, link, frame)
    }

    /// Reports on the whole capture at its end. Throws if no record in it has a known link type.
    mutating func finish() throws(ImportError) -> TraceDraft {
        try reportStrange()
        if snipped > 0 {
            let sentence =
                "\(snipped.counted("record")) were shortened by their recorder, the first at byte \(firstSnip)"
            draft.warn(sentence + "; Android does so in its filtered mode. What is missing is not imported")
        }
        if hci.unheard > 0, draft.entries == 0 {
            draft.warn("left out: \(hci.unheard.counted("advertisement")); --broadcasts imports them")
        }
        if draft.counts.dropped > 0 {
            draft.warn("left out: \(draft.counts.dropped.counted("packet")) that came damaged or twice over the air")
        }
        return draft
    }

    private mutating func reportStrange() throws(ImportError) {
        for (link, (count, first)) in strange.sorted(by: { $0.value.first < $1.value.first }) {
            guard isKnown else {
                let reason = "the packet there is of \(link.words), which is not known; \(LinkType.known)"
                throw ImportError(offset: first, reason: reason)
            }
            let packets = "\(count.counted("packet")) of \(link.words), which is not known"
            draft.warn("left out: \(packets), the first at byte \(first); \(LinkType.known)")
        }
    }
}
