// The whole messages of one piece of MIDI, in the order in which they were whole.
import WakeModel

struct MIDIMessages {
    private var messages: [DecodedValue] = []
    /// Data bytes that belong to no status: the first bytes came from the middle of a message.
    private var stray: [UInt8] = []
    /// The time of the next message; nil on a serial line.
    var time: Int?

    /// Nil where there are none.
    var fields: DecodedFields? {
        guard !messages.isEmpty || !stray.isEmpty else { return nil }
        var fields = DecodedFields()
        fields.add("messages", .list(messages))
        if !stray.isEmpty { fields.add("undecoded", .bytes(stray)) }
        return fields
    }

    /// How many data bytes follow a status, but for system exclusive.
    static func length(of status: UInt8) -> Int {
        switch status {
        case 0xc0...0xdf, 0xf1, 0xf3: 1
        case 0x80...0xef, 0xf2: 2
        default: 0
        }
    }

    mutating func addStray(_ byte: UInt8) { stray.append(byte) }

    mutating func add(status: UInt8, data: [UInt8]) {
        var fields = DecodedFields()
        guard let type = Self.name(of: status) else { return stray.append(status) }
        fields.add("type", type)
        // As musicians number them.
        if status < 0xf0 { fields.add("channel", status & 15 + 1) }
        Self.add(data, of: status, to: &fields)
        if let time { fields.add("at_ms", time) }
        messages.append(.object(fields))
    }

    private static func name(of status: UInt8) -> String? {
        switch status >> 4 {
        case 0x8: "note_off"
        case 0x9: "note_on"
        case 0xa: "note_pressure"
        case 0xb: "control_change"
        case 0xc: "program_change"
        case 0xd: "channel_pressure"
        case 0xe: "pitch_bend"
        default: systemNames[status]
        }
    }

    private static let systemNames: [UInt8: String] = [
        0xf0: "system_exclusive", 0xf1: "quarter_frame", 0xf2: "song_position", 0xf3: "song_select",
        0xf6: "tune_request", 0xf8: "clock", 0xfa: "start", 0xfb: "continue", 0xfc: "stop", 0xfe: "active_sensing",
        0xff: "reset",
    ]

    private static func add(_ data: [UInt8], of status: UInt8, to fields: inout DecodedFields) {
        if status == 0xf0 { return fields.add("data", .bytes(data)) }
        guard let first = data.first, let last = data.last else { return }
        switch status {
        case 0x80...0x9f:
            fields.add("note", first)
            fields.add("velocity", last)
        case 0xa0...0xaf:
            fields.add("note", first)
            fields.add("pressure", last)
        case 0xb0...0xbf:
            fields.add("control", first)
            fields.add("value", last)
        case 0xc0...0xcf: fields.add("program", first)
        case 0xd0...0xdf: fields.add("pressure", first)
        // The least of 14 bits come first; the middle is no bend.
        case 0xe0...0xef: fields.add("bend", (Int(last) << 7 | Int(first)) - 8_192)
        case 0xf1:
            fields.add("frame_part", first >> 4)
            fields.add("frame_value", first & 15)
        case 0xf2: fields.add("beats", Int(last) << 7 | Int(first))
        case 0xf3: fields.add("song", first)
        default: return
        }
    }
}
