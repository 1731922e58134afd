// Sentences of a ship's radio (AIVDM, AIVDO): parts are kept until their message is whole, by sequence id and channel.
import WakeModel

struct AISFragments: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var sequence: String
        var channel: String
        var total: Int
        var last: Int
        var payload: [UInt8]
        var heard: Instant
    }

    /// More are not under way at once: ten ids on two channels.
    private static let most = 20
    /// A sequence id comes again soon, so an old part belongs to another message.
    private static let patience = TimeSpan.seconds(30)

    private var entries: [Entry] = []

    /// Nil for a part whose message is not whole yet.
    mutating func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        let sentence = try AISSentence(message.bytes)
        guard let payload = try whole(sentence, heard: message.heard) else { return nil }
        let bits = try AISSentence.bits(of: payload, fill: sentence.fill)
        return try AISMessage.read(bits, channel: sentence.channel)
    }

    private mutating func whole(_ sentence: AISSentence, heard: Instant) throws(DecoderFault) -> [UInt8]? {
        entries.removeAll { heard - $0.heard > Self.patience }
        guard sentence.total > 1 else { return sentence.payload }
        let place = entries.firstIndex { $0.sequence == sentence.sequence && $0.channel == sentence.channel }
        let earlier = place.map { entries.remove(at: $0) }
        guard sentence.number > 1 else {
            if entries.count == Self.most { entries.removeFirst() }
            entries.append(
                Entry(
                    sequence: sentence.sequence, channel: sentence.channel, total: sentence.total, last: 1,
                    payload: sentence.payload, heard: heard))
            return nil
        }
        guard var entry = earlier, entry.total == sentence.total, entry.last + 1 == sentence.number else {
            throw DecoderFault.unfit(
                "part \(sentence.number) of \(sentence.total): the part before it was not heard")
        }
        entry.last = sentence.number
        entry.payload += sentence.payload
        entry.heard = heard
        if sentence.number == sentence.total { return entry.payload }
        entries.append(entry)
        return nil
    }
}

/// A sentence: its place among its message's, and six bits for each character.
struct AISSentence {
    let total: Int
    let number: Int
    let sequence: String
    let channel: String
    let payload: [UInt8]
    /// The padding bits at the end of the last part.
    let fill: Int

    init(_ bytes: [UInt8]) throws(DecoderFault) {
        let fields = try Self.checked(bytes).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == 7, fields[0].count == 5,
            fields[0].suffix(3) == Array("VDM".utf8)[...] || fields[0].suffix(3) == Array("VDO".utf8)[...]
        else {
            throw DecoderFault.unfit("not AIS: the sentence is no !..VDM or !..VDO with seven fields")
        }
        func digit(_ field: ArraySlice<UInt8>) -> Int? {
            guard let byte = field.first, field.count == 1, (48...57).contains(byte) else { return nil }
            return Int(byte) - 48
        }
        guard let total = digit(fields[1]), let number = digit(fields[2]), number >= 1, number <= total,
            let fill = digit(fields[6]), fill <= 5
        else { throw DecoderFault.unfit("not AIS: the counts of the sentence are none") }
        self.total = total
        self.number = number
        self.fill = fill
        sequence = String(decoding: fields[3], as: UTF8.self)
        channel = String(decoding: fields[4], as: UTF8.self)
        payload = Array(fields[5])
    }

    /// The text between the mark and the checksum; without a tag block before it, and without line ends and what
    /// receivers add after it: a comma, then stations and times of their own.
    private static func checked(_ bytes: [UInt8]) throws(DecoderFault) -> ArraySlice<UInt8> {
        var text = bytes[...]
        if text.first == UInt8(ascii: "\\"), let end = text.dropFirst().firstIndex(of: UInt8(ascii: "\\")) {
            text = text[(end + 1)...]
        }
        while let last = text.last, last == 10 || last == 13 { text.removeLast() }
        guard text.first == UInt8(ascii: "!"), let star = text.firstIndex(of: UInt8(ascii: "*")),
            let found = [UInt8](hexadecimal: text[star...].dropFirst().prefix(2))?.first,
            text[star...].dropFirst(3).first ?? UInt8(ascii: ",") == UInt8(ascii: ",")
        else { throw DecoderFault.unfit("not AIS: the sentence is not !…*hh, a text and two hexadecimal digits") }
        let body = text[..<star].dropFirst()
        let made = body.reduce(0, ^)
        guard found == made else {
            throw DecoderFault.unfit(
                "a wrong check: the sentence says \(found.hexadecimal), its text makes \(made.hexadecimal)")
        }
        return body
    }

    /// Each character holds six bits, the highest first.
    static func bits(of payload: [UInt8], fill: Int) throws(DecoderFault) -> BitReader {
        var bytes: [UInt8] = []
        var (held, count) = (UInt32(0), 0)
        for character in payload {
            let value: UInt8
            switch character {
            case 48...87: value = character - 48
            case 96...119: value = character - 56
            default: throw DecoderFault.unfit("not AIS: \(character.hexadecimal) is no character of a payload")
            }
            held = held << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(count)))
            }
        }
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: held << UInt32(8 - count))) }
        return BitReader(bytes, order: .high, count: max(0, payload.count * 6 - fill))
    }
}
