// A script of umockdev: reads and writes of a node, with the milliseconds before each.
import WakeHCI
import WakeModel
import WakeTrace

struct ScriptFollower: LineFollower {
    private enum Use {
        case reports, events, serial
    }

    /// The size on a 64-bit machine: two times of eight bytes, then type, code and value.
    private static let eventBytes = 24

    private let alias: String?
    private var node: String?
    private var place: Int?
    private var use: Use?
    private var gathering = InputGathering()

    init(_ terms: ImportTerms) { alias = terms.alias }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        if first == UInt8(ascii: "d") { return setNode(line.dropFirst(2)) }
        var words = LineWords(line.dropFirst(2))
        guard line.dropFirst().first == UInt8(ascii: " "), let wait = words.decimal(), wait >= 0, wait < 1 << 40,
            [UInt8(ascii: "r"), UInt8(ascii: "w"), UInt8(ascii: "Q")].contains(first)
        else {
            throw ImportError(offset: offset, reason: "no line of a script: r or w, milliseconds, and bytes")
        }
        draft.advance(by: .milliseconds(wait))
        draft.counts.records += 1
        guard first == UInt8(ascii: "r"), let bytes = Self.unescaped(words.rest.dropFirst()) else { return }
        readBlock(bytes, &draft)
    }

    /// `0 /dev/hidraw5`.
    private mutating func setNode(_ line: ArraySlice<UInt8>) {
        node = line.drop { $0 != UInt8(ascii: "/") }.trimmed.text
        (place, use) = (nil, nil)
    }

    private mutating func readBlock(_ bytes: [UInt8], _ draft: inout TraceDraft) {
        let use = use ?? Self.use(of: bytes, node)
        self.use = use
        guard let place = place(use, &draft), !bytes.isEmpty else { return }
        switch use {
        case .reports:
            // Reports that came without a wait are in one line.
            let descriptor = ReportCutter(draft.devices[place].facts.reportDescriptor[...])
            for report in descriptor?.reports(in: bytes[...]) ?? [bytes[...]] {
                draft.counts.messages += 1
                draft.add(report, of: .channel(.report(descriptor?.channelNumber(of: report) ?? 0)), from: place)
            }
        case .events:
            for start in stride(from: 0, through: bytes.count - Self.eventBytes, by: Self.eventBytes) {
                let event = bytes[(start + 16)..<(start + 24)]
                guard let type = event.word(0), let code = event.word(2), let value = event.number(4, 4, .little)
                else { continue }
                gathering.add(type, code, Int32(truncatingIfNeeded: value), to: &draft, place)
            }
        case .serial: draft.addSerial(bytes, from: place)
        }
    }

    /// By its node; without one, by whether the first block is events that end in a SYN_REPORT.
    private static func use(of bytes: [UInt8], _ node: String?) -> Use {
        if let node, node.hasPrefix("/dev/hidraw") { return .reports }
        if let node, node.hasPrefix("/dev/input/event") { return .events }
        let isEvents =
            !bytes.isEmpty && bytes.count.isMultiple(of: eventBytes) && bytes.suffix(8).allSatisfy { $0 == 0 }
        return node == nil && isEvents ? .events : .serial
    }

    private mutating func place(_ use: Use, _ draft: inout TraceDraft) -> Int? {
        if let place { return place }
        if let node, let known = draft.nodes[node] {
            place = known
            draft.connect(known)
            return known
        }
        let name = alias ?? node.map { String($0.dropFirst(5)) } ?? "script"
        place = draft.serialDevice(alias: alias, named: name)
        return place
    }

    /// `^@` is 0, `^A` is 1, and `^`` is `^` itself.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "^") else {
                bytes.append(byte)
                continue
            }
            guard let code = rest.popFirst() else { return nil }
            bytes.append(code == UInt8(ascii: "`") ? byte : code ^ 0x40)
        }
        return bytes
    }
}
