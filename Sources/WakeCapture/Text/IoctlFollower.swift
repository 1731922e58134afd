// Reads umockdev's records of ioctl: how a node describes itself, and USB transfers that were fetched.
import WakeHCI
import WakeModel
import WakeTrace

struct IoctlFollower: LineFollower {
    private static let interrupt: Int64 = 1
    private static let pace = TimeSpan.milliseconds(10)

    private var node: String?
    private var name: String?
    private var vendor: UInt16?
    private var product: UInt16 = 0
    private var descriptor: ReportCutter?
    private var place: Int?

    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { false }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        var words = LineWords(line)
        guard let first = words.next(), first.first != UInt8(ascii: "#") else { return }
        switch first.text {
        case "@DEV": node = words.rest.trimmed.text
        case "USBDEVFS_REAPURB", "USBDEVFS_REAPURBNDELAY": try readTransfer(&words, at: offset, into: &draft)
        case "EVIOCGID": readIdentity(&words)
        case "HIDIOCGRDESC": readDescriptor(&words)
        case let text where text.hasPrefix("EVIOCGNAME"): readName(&words)
        default: break
        }
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        guard let node, let known = draft.nodes[node] else {
            _ = device(&draft)
            return
        }
        guard let descriptor else { return }
        draft.counts.records += 1
        draft.update(known) { $0.facts.reportDescriptor = descriptor.bytes }
    }

    /// The answer, then type, endpoint, status, flags, the room there was, how many came, and the bytes.
    private mutating func readTransfer(
        _ words: inout LineWords, at offset: Int, into draft: inout TraceDraft
    ) throws(ImportError) {
        _ = words.decimal()
        guard let type = words.decimal(), let endpoint = words.decimal(), let status = words.decimal(),
            words.decimal() != nil, words.decimal() != nil, let count = words.decimal()
        else { throw ImportError(offset: offset, reason: "no transfer of USB: six numbers, and bytes") }
        guard type == Self.interrupt, endpoint & 0x80 != 0, status == 0, count > 0 else { return }
        guard let bytes = words.bytes(most: 1 << 16), bytes.count >= count else {
            throw ImportError(offset: offset, reason: "the transfer there does not have as many bytes as it states")
        }
        draft.counts.records += 1
        // Its link is up before the first transfer, at the beginning.
        let place = device(&draft)
        draft.advance(by: Self.pace)
        guard let place else { return }
        draft.counts.messages += 1
        let report = bytes.prefix(Int(count))
        draft.add(report, of: .channel(.report(descriptor?.channelNumber(of: report) ?? 0)), from: place)
    }

    /// Bus, vendor, product and version, each of two bytes.
    private mutating func readIdentity(_ words: inout LineWords) {
        guard words.next() != nil, let bytes = words.bytes(most: 64), let vendor = bytes[...].word(2),
            let product = bytes[...].word(4)
        else { return }
        (self.vendor, self.product) = (vendor, product)
    }

    /// Its length in four bytes, then the descriptor.
    private mutating func readDescriptor(_ words: inout LineWords) {
        guard words.next() != nil, let bytes = words.bytes(most: 8_192),
            let count = bytes[...].number(0, 4, .little), let body = bytes[...].slice(4, Int(count))
        else { return }
        descriptor = ReportCutter(body)
    }

    private mutating func readName(_ words: inout LineWords) {
        guard words.next() != nil, let bytes = words.bytes(most: 8_192) else { return }
        name = bytes.prefix { $0 != 0 }.text
    }

    private mutating func device(_ draft: inout TraceDraft) -> Int? {
        if let place { return place }
        if let node, let known = draft.nodes[node] {
            place = known
            draft.connect(known)
            return place
        }
        let port = node.map { String($0.dropFirst(5)) } ?? "ioctl"
        place = draft.hidDevice(name: name, vendor: vendor, product: product, port: port, descriptor: descriptor)
        if let place, let node { draft.nodes[node] = place }
        return place
    }
}
