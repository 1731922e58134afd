// MIDI bytes become messages: of a serial line, or of the packets of Bluetooth MIDI with their times.
import WakeModel

struct MIDIStream: Hashable, Sendable {
    /// The status that following data belong to, where messages leave it out.
    private var running: UInt8?
    /// Data of a message that is not whole yet, and the status that it began with.
    private var begun: UInt8?
    private var data: [UInt8] = []
    /// The bytes of a system exclusive message that is not whole yet.
    private var exclusive: [UInt8]?

    /// A longer exclusive message is given up.
    private static let largestExclusive = 65_536

    /// Nil where no message is whole yet.
    mutating func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        var found = MIDIMessages()
        switch message.origin {
        case .characteristic: try readPacket(message.bytes, into: &found)
        case .serviceData, .manufacturerData, .line, .report, .featureReport, .input:
            for byte in message.bytes { try take(byte, into: &found) }
        }
        return found.fields
    }

    /// Takes a byte of a serial line. Real-time bytes may come anywhere, even between the bytes of a message.
    private mutating func take(_ byte: UInt8, into found: inout MIDIMessages) throws(DecoderFault) {
        switch byte {
        case 0xf8...0xff: found.add(status: byte, data: [])
        case 0x80...0xf7: begin(byte, into: &found)
        default: try takeData(byte, into: &found)
        }
    }

    private mutating func begin(_ status: UInt8, into found: inout MIDIMessages) {
        if let exclusive, status == 0xf7 { found.add(status: 0xf0, data: exclusive) }
        // An unfinished message will not be completed any more.
        exclusive = status == 0xf0 ? [] : nil
        data = []
        begun = nil
        running = status < 0xf0 ? status : nil
        guard status != 0xf0, status != 0xf7 else { return }
        if MIDIMessages.length(of: status) == 0 { found.add(status: status, data: []) } else { begun = status }
    }

    private mutating func takeData(_ byte: UInt8, into found: inout MIDIMessages) throws(DecoderFault) {
        if exclusive != nil {
            exclusive?.append(byte)
            guard exclusive?.count ?? 0 > Self.largestExclusive else { return }
            exclusive = nil
            throw DecoderFault.unfit("a system exclusive message longer than 64 KiB")
        }
        guard let status = begun ?? running else { return found.addStray(byte) }
        data.append(byte)
        begun = status
        guard data.count == MIDIMessages.length(of: status) else { return }
        found.add(status: status, data: data)
        data = []
        begun = nil
    }

    /// A header with the upper part of a time, then messages, each with the lower part before it. A status that is left out
    /// is that of the message before it in the packet.
    private mutating func readPacket(_ bytes: [UInt8], into found: inout MIDIMessages) throws(DecoderFault) {
        guard let header = bytes.first, header & 0xc0 == 0x80 else {
            throw DecoderFault.unfit("no packet of Bluetooth MIDI: its first byte is not 80 to bf")
        }
        var time = MIDITime(upper: header & 0x3f)
        (running, begun, data) = (nil, nil, [])
        var rest = bytes.dropFirst()
        while let byte = rest.popFirst() {
            guard byte >= 0x80 else {
                try takeData(byte, into: &found)
                continue
            }
            guard begun == nil else { throw DecoderFault.unfit("a time within a message") }
            found.time = time.advance(to: byte & 0x7f)
            guard let status = rest.first else { throw DecoderFault.unfit("a time at the end, without a message") }
            if status >= 0x80 { takePacketStatus(rest.removeFirst(), into: &found) }
        }
        if begun != nil { throw DecoderFault.unfit("cut short: the packet ends within a message") }
    }

    /// Unlike on a line, messages of the system leave the running status as it is.
    private mutating func takePacketStatus(_ status: UInt8, into found: inout MIDIMessages) {
        guard status < 0xf8 else { return found.add(status: status, data: []) }
        let kept = running
        begin(status, into: &found)
        if status >= 0xf0 { running = kept }
    }
}

/// The time of a packet's messages, whose lower seven bits are sent before each.
private struct MIDITime {
    var upper: UInt8
    private var lower: UInt8?

    init(upper: UInt8) { self.upper = upper }

    /// In milliseconds, of 13 bits.
    mutating func advance(to next: UInt8) -> Int {
        // A lower part that falls has carried into the upper one.
        if let lower, next < lower { upper = (upper + 1) & 0x3f }
        lower = next
        return Int(upper) << 7 | Int(next)
    }
}
