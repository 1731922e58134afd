// What devices send besides values: streams that are cut into messages, descriptors, broadcasts.
import DeviceLibrary
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

enum DeviceTarget: String, CaseIterable {
    /// However a stream is cut into calls, its frames are the same.
    case framing
    case reportDescriptor = "report-descriptor"
    case advertisement
    /// Lines of the file that remembers accessories.
    case accessories
}

extension DeviceTarget: OutsideReader {
    var files: [String] {
        switch self {
        case .reportDescriptor: ["captures/hid/*.descriptor"]
        case .framing, .advertisement, .accessories: []
        }
    }

    func read(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .framing: Self.cut(bytes)
        case .reportDescriptor: Self.describe(bytes)
        case .advertisement: Self.hear(bytes)
        case .accessories: Self.recall(bytes)
        }
        return true
    }

    /// The framing and its limit, the length of a call, and the stream.
    private static func cut(_ bytes: [UInt8]) {
        var feed = ByteFeed(bytes)
        let framing = framing(&feed)
        let limit = 1 + Int(feed.byte())
        let step = 1 + Int(feed.byte() % 32)
        let stream = feed.rest
        var (whole, pieces) = (Framer(framing, limit: limit), Framer(framing, limit: limit))
        var frames = whole.append(stream, at: .zero, readBy: .zero)
        var others: [Frame] = []
        var rest = stream
        while !rest.isEmpty {
            others += pieces.append(rest.prefix(step), at: .zero, readBy: .zero)
            rest = rest.dropFirst(step)
        }
        if let due = whole.deadline { frames += whole.tick(at: due) }
        if let due = pieces.deadline { others += pieces.tick(at: due) }
        frames += whole.end()
        others += pieces.end()
        precondition(framing == .none || frames == others, "the frames depend on how the stream is cut into calls")
    }

    private static func framing(_ feed: inout ByteFeed) -> Framing {
        switch feed.byte() % 10 {
        case 0: .none
        case 1: .line
        case 2: .delimiter(mark(&feed))
        case 3: .lengthPrefix(lengthPrefix(&feed))
        case 4: .fixed(Int(feed.byte()))
        case 5: .idle(.milliseconds(20))
        case 6: .slip
        case 7: .cobs
        case 8: .hdlc
        default: .marked((0...feed.byte() % 4).map { marked(beginning: 0xa0 + $0, &feed) })
        }
    }

    /// One byte at least.
    private static func mark(_ feed: inout ByteFeed) -> [UInt8] { feed.piece(1 + Int(feed.byte() % 3)) + [0x0a] }

    private static func lengthPrefix(_ feed: inout ByteFeed) -> Framing.LengthPrefix {
        let start = feed.piece(Int(feed.byte() % 4))
        return lengthPrefix(&feed, after: start)
    }

    private static func lengthPrefix(_ feed: inout ByteFeed, after start: [UInt8]) -> Framing.LengthPrefix {
        Framing.LengthPrefix(
            start: start, offset: start.count + Int(feed.byte() % 8), size: feed.choice([1, 2, 4]),
            endian: feed.choice(Framing.Endian.allCases), extra: Int(feed.byte() % 16))
    }

    /// - Parameter first: one that no other form begins with.
    private static func marked(beginning first: UInt8, _ feed: inout ByteFeed) -> Framing.Marked {
        let start = [first] + feed.piece(Int(feed.byte() % 3))
        let rest: Framing.Marked.Rest =
            switch feed.byte() % 5 {
            case 0: .line
            case 1: .delimiter(mark(&feed), tail: nil)
            case 2: .delimiter(mark(&feed), tail: Int(feed.byte() % 4))
            case 3: .fixed(start.count + 1 + Int(feed.byte()))
            default: .length(lengthPrefix(&feed, after: start))
            }
        return Framing.Marked(start: start, rest: rest)
    }

    private static func describe(_ bytes: [UInt8]) {
        _ = HIDReportDescriptor(bytes).inputNumbers
        var settings = DecoderSettings()
        settings.reportDescriptor = bytes
        guard var state = try? NamedDecoder.hidPower.begin(settings) else { return }
        let reports: [ClosedRange<UInt8>] = [0...8, 1...1, 3...16]
        for report in reports {
            let message = DecoderMessage(bytes: Array(report), origin: .report)
            _ = try? NamedDecoder.hidPower.decode(message, with: &state)
        }
    }

    private static func hear(_ bytes: [UInt8]) {
        _ = AdvertisementPart.parts(of: bytes)
        let library = ShippedLibrary.library
        guard let index = library.match(kind: .bluetoothCentral, name: "LYWSD02", advertisement: bytes) else { return }
        let sender = DeviceMemory.Sender(address: [0xc0, 2, 3, 4, 5, 6], key: FuzzedKey.bytes)
        var (memory, writer) = (DeviceMemory(), JSONWriter())
        let heard = library.decoder(index).hear(
            bytes, from: .advertisement, of: sender, at: .zero, after: &memory)
        _ = try? library.decoder(index).decode(bytes, from: .advertisement, heard: heard, into: &writer)
    }

    private static func recall(_ bytes: [UInt8]) {
        var registry = AccessoryRegistry()
        for line in bytes.split(separator: UInt8(ascii: "\n")) { _ = registry.add(line: line) }
        _ = registry.trim(attached: [])
    }
}
