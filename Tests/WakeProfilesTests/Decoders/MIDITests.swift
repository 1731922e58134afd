// MIDI of lines and of Bluetooth packets: running status, real-time bytes, exclusive messages in pieces.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder midi")
struct MIDITests {
    private func messages(_ pieces: [String], _ origin: DecoderMessage.Origin = .line) throws -> [String?] {
        var listener = try Listener(.midi)
        return try pieces.map { piece in
            try listener.hear(piece, origin).map {
                $0.hasPrefix(#"{"messages":["#) && $0.hasSuffix("]}") ? String($0.dropFirst(13).dropLast(2)) : $0
            }
        }
    }

    /// The bytes of mido's tests and tables, whose channels count from 0.
    @Test(
        "every message of the MIDI specification decodes",
        arguments: [
            ("803c40", #"{"type":"note_off","channel":1,"note":60,"velocity":64}"#),
            ("924c20", #"{"type":"note_on","channel":3,"note":76,"velocity":32}"#),
            ("a04001", #"{"type":"note_pressure","channel":1,"note":64,"pressure":1}"#),
            ("bf077f", #"{"type":"control_change","channel":16,"control":7,"value":127}"#),
            ("c105", #"{"type":"program_change","channel":2,"program":5}"#),
            ("d03c", #"{"type":"channel_pressure","channel":1,"pressure":60}"#),
            ("e00000", #"{"type":"pitch_bend","channel":1,"bend":-8192}"#),
            ("e00040", #"{"type":"pitch_bend","channel":1,"bend":0}"#),
            ("e07f7f", #"{"type":"pitch_bend","channel":1,"bend":8191}"#),
            ("f0010203f7", #"{"type":"system_exclusive","data":"010203"}"#),
            ("f0f7", #"{"type":"system_exclusive","data":""}"#),
            ("f135", #"{"type":"quarter_frame","frame_part":3,"frame_value":5}"#),
            ("f27f7f", #"{"type":"song_position","beats":16383}"#), ("f302", #"{"type":"song_select","song":2}"#),
            ("f6", #"{"type":"tune_request"}"#), ("f8", #"{"type":"clock"}"#), ("fa", #"{"type":"start"}"#),
            ("fb", #"{"type":"continue"}"#), ("fc", #"{"type":"stop"}"#), ("fe", #"{"type":"active_sensing"}"#),
            ("ff", #"{"type":"reset"}"#),
        ] as [(String, String)])
    func all(hexadecimal: String, expected: String) throws {
        #expect(try messages([hexadecimal]) == [expected])
    }

    private static let (low, high) = (
        #"{"type":"note_on","channel":1,"note":60,"velocity":64}"#,
        #"{"type":"note_on","channel":1,"note":64,"velocity":0}"#
    )

    @Test("a status that is left out is the last one, over pieces too, until a message of the system")
    func running() throws {
        #expect(try messages(["903c40" + "4000"]) == [Self.low + "," + Self.high])
        #expect(try messages(["903c40", "40", "00"]) == [Self.low, nil, Self.high])
        #expect(
            try messages(["903c40" + "f6" + "4000"]) == [
                #"{"messages":["# + Self.low + #",{"type":"tune_request"}],"undecoded":"4000"}"#
            ])
    }

    @Test("real-time bytes inside a message are messages of their own, and change nothing in it")
    func realTime() throws {
        let clock = #"{"type":"clock"}"#
        #expect(
            try messages(["90f83cf840f8" + "40f800"]) == [
                [clock, clock, Self.low, clock, clock, Self.high].joined(separator: ",")
            ])
        #expect(try messages(["f001f802f7"]) == [clock + #",{"type":"system_exclusive","data":"0102"}"#])
    }

    @Test("an exclusive message in pieces comes when it is whole; one that another status ends does not come")
    func exclusive() throws {
        #expect(
            try messages(["f00102", "0304", "05f7"]) == [nil, nil, #"{"type":"system_exclusive","data":"0102030405"}"#])
        #expect(try messages(["f00102" + "903c40"]) == [Self.low])
        #expect(try messages(["f7"]) == [nil])
    }

    @Test("what has no status, and a status that nothing defines, comes as it was sent")
    func stray() throws {
        #expect(try messages(["3c40" + "903c40"]) == [#"{"messages":["# + Self.low + #"],"undecoded":"3c40"}"#])
        #expect(try messages(["fd"]) == [#"{"messages":[],"undecoded":"fd"}"#])
    }

    @Test("an exclusive message of more than 64 KiB is given up, and the next message is heard")
    func long() throws {
        var listener = try Listener(.midi)
        let text = listener.hear([0xf0] + [UInt8](repeating: 1, count: 65_537), .line)
        #expect(text == "a system exclusive message longer than 64 KiB")
        #expect(try listener.hear("903c40", .line)?.contains("note_on") == true)
    }

    @Test(
        "packets of Bluetooth have times before their messages, with a status or without, and a carry in the times",
        arguments: [
            ("8080" + "903c40", #"{"type":"note_on","channel":1,"note":60,"velocity":64,"at_ms":0}"#),
            (
                "81ff" + "903c40" + "81" + "4000",
                #"{"type":"note_on","channel":1,"note":60,"velocity":64,"at_ms":255},{"type":"note_on","channel":1,"note":64,"velocity":0,"at_ms":257}"#
            ),
            (
                "8085" + "903c40" + "4000",
                #"{"type":"note_on","channel":1,"note":60,"velocity":64,"at_ms":5},{"type":"note_on","channel":1,"note":64,"velocity":0,"at_ms":5}"#
            ),
            (
                "8080" + "903c40" + "81f8" + "82" + "4000",
                #"{"type":"note_on","channel":1,"note":60,"velocity":64,"at_ms":0},{"type":"clock","at_ms":1},{"type":"note_on","channel":1,"note":64,"velocity":0,"at_ms":2}"#
            ),
            ("8080" + "f00102" + "81f7", #"{"type":"system_exclusive","data":"0102","at_ms":1}"#),
        ] as [(String, String)])
    func packets(packet: String, expected: String) throws {
        #expect(try messages([packet], .characteristic) == [expected])
    }

    @Test("an exclusive message goes on in the next packet, and a clock may stand inside")
    func packetsExclusive() throws {
        let whole = #"{"type":"clock","at_ms":3},{"type":"system_exclusive","data":"01020304","at_ms":4}"#
        #expect(try messages(["8080f00102", "8003" + "83f8" + "04" + "84f7"], .characteristic) == [nil, whole])
    }

    @Test(
        "what is no packet makes no value",
        arguments: [
            ("", "no packet of Bluetooth MIDI: its first byte is not 80 to bf"),
            ("3c", "no packet of Bluetooth MIDI: its first byte is not 80 to bf"),
            ("8080" + "903c", "cut short: the packet ends within a message"),
            ("8080" + "90", "cut short: the packet ends within a message"),
            ("8080", "a time at the end, without a message"), ("8080" + "903c" + "8140", "a time within a message"),
        ] as [(String, String)])
    func unfit(packet: String, expected: String) throws {
        #expect(try messages([packet], .characteristic) == [expected])
    }

    @Test("ten thousand random and spoilt pieces make messages or a sentence")
    func hardy() throws {
        try expectHardy(
            .midi, [.line, .characteristic],
            seeds: ["903c404000f8", "8080903c4081f7", "f0010203f7", "81ff903c40814000"])
    }
}
