// Cuts what came over a serial line into messages where no profile says how: lines where it is text, else as it was read.
import WakeModel

struct SerialCutter {
    /// A message is never longer.
    static let limit = 4_096

    private var line: [UInt8] = []
    /// Something came that is no text: from then on each piece that was read is a message.
    private var isBinary = false

    mutating func add(_ bytes: [UInt8], to draft: inout TraceDraft, _ place: Int) {
        if !isBinary, !bytes.allSatisfy(Self.isText) {
            isBinary = true
            end(into: &draft, place)
        }
        guard !isBinary else { return Self.say(bytes[...], &draft, place) }
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                end(into: &draft, place)
            } else {
                line.append(byte)
                if line.count == Self.limit { end(into: &draft, place) }
            }
        }
    }

    /// Nothing follows.
    mutating func end(into draft: inout TraceDraft, _ place: Int) {
        while line.last == UInt8(ascii: "\r") { line.removeLast() }
        Self.say(line[...], &draft, place)
        line = []
    }

    private static func say(_ bytes: ArraySlice<UInt8>, _ draft: inout TraceDraft, _ place: Int) {
        guard !bytes.isEmpty else { return }
        draft.counts.messages += 1
        draft.add(bytes, of: .channel(.serial), from: place)
    }

    private static func isText(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) || (0x09...0x0d).contains(byte) }
}
