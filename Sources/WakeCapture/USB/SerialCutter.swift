// Cuts bytes of a serial line into messages if no profile does: into lines of text, else as they were read.
import WakeModel

struct SerialCutter: MessageCutter {
    /// A message is never longer.
    static let limit = 4_096

    private var line: [UInt8] = []
    /// Bytes came that are no text: from then on each piece that was read is a message.
    private var isBinary = false

    mutating func append(_ bytes: [UInt8], at time: TimeSpan) -> [(channel: Channel, bytes: [UInt8])] {
        var messages: [(channel: Channel, bytes: [UInt8])] = []
        if !isBinary, !bytes.allSatisfy(Self.isText) {
            isBinary = true
            messages += end()
        }
        guard !isBinary else { return messages + Self.told(bytes) }
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                messages += end()
            } else {
                line.append(byte)
                if line.count == Self.limit { messages += end() }
            }
        }
        return messages
    }

    /// No bytes follow.
    mutating func end() -> [(channel: Channel, bytes: [UInt8])] {
        while line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line = [] }
        return Self.told(line)
    }

    private static func told(_ bytes: [UInt8]) -> [(channel: Channel, bytes: [UInt8])] {
        bytes.isEmpty ? [] : [(.serial, bytes)]
    }

    private static func isText(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) || (0x09...0x0d).contains(byte) }
}
