// Keyboard wedges: the key events of scanners become lines of text.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder wedge")
struct WedgeTests {
    private enum Key {
        static let (enter, keypadEnter, shift, rightShift, control, alt, altGr, caps, backspace):
            (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16, UInt16, UInt16, UInt16) =
                (28, 96, 42, 54, 29, 56, 100, 58, 14)
    }

    /// One event as the kernel has it, without its time.
    private func event(_ code: UInt16, _ value: UInt8, type: UInt8 = 1) -> [UInt8] {
        [type, 0, UInt8(code & 0xff), UInt8(code >> 8), value, 0, 0, 0]
    }
    private func press(_ codes: UInt16...) -> [UInt8] { codes.flatMap { event($0, 1) + event($0, 0) } }
    private func held(_ modifier: UInt16, _ codes: UInt16...) -> [UInt8] {
        event(modifier, 1) + codes.flatMap { press($0) } + event(modifier, 0)
    }

    private func line(_ events: [UInt8], _ layout: KeyLayout = .us) throws -> String? {
        var settings = DecoderSettings()
        settings.layout = layout
        var listener = try Listener(.wedge, settings)
        return listener.hear(events, .input)
    }

    @Test("keys become a line that Enter ends, of the keyboard or of its keypad; a line without text is none")
    func lines() throws {
        #expect(try line(press(5, 10, 11, 6, 28)) == #"{"text":"4905"}"#)
        #expect(try line(press(79, 80, 83, 82, 98, 55, 74, 78, Key.keypadEnter)) == #"{"text":"12.0/*-+"}"#)
        #expect(try line(press(Key.enter)) == nil)
        #expect(try line(press(30, Key.enter) + press(48, Key.enter)) == #"{"text":["a","b"]}"#)
    }

    @Test("a batch for each event, as the kernel sends them, makes the same line")
    func batches() throws {
        var listener = try Listener(.wedge)
        let events = held(Key.shift, 30) + press(2, Key.enter)
        var lines: [String] = []
        for start in stride(from: 0, to: events.count, by: 8) {
            // With the scan code before it, which is an event of another type.
            let batch = event(4, 30, type: 4) + events[start..<(start + 8)]
            if let text = listener.hear(batch, .input) { lines.append(text) }
        }
        #expect(lines == [#"{"text":"A1"}"#])
    }

    @Test(
        "shift of either side, caps lock and both together make letters large and small; caps lock leaves digits alone")
    func levels() throws {
        #expect(
            try line(held(Key.shift, 30, 2) + held(Key.rightShift, 31) + press(32, Key.enter)) == #"{"text":"A!Sd"}"#)
        #expect(
            try line(press(Key.caps, 30, 2) + held(Key.shift, 31) + press(Key.caps, 32, Key.enter))
                == #"{"text":"A1sd"}"#)
    }

    /// Letters that change places, and keys beside them whose signs differ.
    @Test(
        "the same keys are other characters in another layout",
        arguments: [
            (KeyLayout.us, #"{"text":"qwyz[-/"}"#, #"{"text":"QWYZ{_?"}"#),
            (.gb, #"{"text":"qwyz[-/"}"#, #"{"text":"QWYZ{_?"}"#),
            (.de, #"{"text":"qwzyüß-"}"#, #"{"text":"QWZYÜ?_"}"#),
            (.fr, #"{"text":"azyw^)!"}"#, #"{"text":"AZYW¨°§"}"#),
        ])
    func layouts(layout: KeyLayout, plain: String, shifted: String) throws {
        #expect(try line(press(16, 17, 21, 44, 26, 12, 53, Key.enter), layout) == plain)
        #expect(try line(held(Key.shift, 16, 17, 21, 44, 26, 12, 53) + press(Key.enter), layout) == shifted)
    }

    @Test("the third level has the signs that a layout has no other key for")
    func thirdLevel() throws {
        #expect(try line(held(Key.altGr, 16, 18, 8, 86) + press(Key.enter), .de) == #"{"text":"@€{|"}"#)
        #expect(try line(held(Key.altGr, 11, 5, 12) + press(Key.enter), .fr) == #"{"text":"@{]"}"#)
        #expect(try line(held(Key.altGr, 16) + press(30, Key.enter), .us) == #"{"text":"a"}"#)
    }

    @Test("every layout has a character for each of its 48 keys, in both levels")
    func complete() {
        let codes = Array(2...13) + Array(16...27) + Array(30...41) + Array(43...53) + [86]
        for layout in KeyLayout.allCases {
            for code in codes {
                #expect(layout.character(UInt16(code), .plain, false) != nil, "\(layout) \(code)")
                #expect(layout.character(UInt16(code), .shifted, false) != nil, "\(layout) \(code)")
            }
        }
    }

    @Test("control characters: the group separator of codes is kept, and a line feed ends the line as Enter does")
    func control() throws {
        #expect(try line(press(2) + held(Key.control, 27) + press(3, Key.enter)) == #"{"text":"1\u001d2"}"#)
        #expect(try line(press(2) + held(Key.control, 36)) == #"{"text":"1"}"#)
    }

    @Test("a character typed by its number while Alt is held is that of any layout")
    func byNumber() throws {
        #expect(try line(held(Key.alt, 82, 77, 75) + press(Key.enter), .fr) == #"{"text":"@"}"#)
        #expect(try line(held(Key.alt, 82, 80, 76, 80) + press(Key.enter)) == #"{"text":"ü"}"#)
        #expect(try line(held(Key.alt, 30, 81, 82, 82) + press(30, Key.enter)) == #"{"text":"a"}"#)
    }

    @Test("repeats of a held key, keys without a character and a corrected one are no text")
    func noText() throws {
        #expect(
            try line(event(30, 1) + event(30, 2) + event(30, 2) + event(30, 0) + press(59, Key.enter))
                == #"{"text":"a"}"#)
        #expect(try line(press(30, 48, Key.backspace, 46, Key.enter)) == #"{"text":"ac"}"#)
    }

    @Test("a silence ends a line too: at its deadline, and before what comes after it")
    func pause() throws {
        var state = try NamedDecoder.wedge.begin()
        let at = { (milliseconds: Int64) in Instant.zero + .milliseconds(milliseconds) }
        func hear(_ bytes: [UInt8], _ when: Instant) throws -> DecodedFields? {
            try NamedDecoder.wedge.decode(DecoderMessage(bytes: bytes, origin: .input, heard: when), with: &state)
        }
        #expect(state.deadline == nil)
        #expect(try hear(press(30), at(0)) == nil && state.deadline == at(200))
        #expect(try hear(press(48), at(199)) == nil && state.deadline == at(399))
        #expect(NamedDecoder.wedge.finish(&state, at: at(398)) == nil)
        #expect(NamedDecoder.wedge.finish(&state, at: at(399))?["text"] == .text("ab"))
        #expect(state.deadline == nil && NamedDecoder.wedge.finish(&state, at: at(400)) == nil)
        #expect(try hear(press(30), at(1_000)) == nil)
        #expect(try hear(press(48), at(1_200))?["text"] == .text("a"))
        #expect(try hear(press(Key.enter), at(1_201))?["text"] == .text("b"))
    }

    @Test("what is no whole number of events is a fault, and so is a line without an end")
    func faults() throws {
        #expect(try line([1, 0, 30]) == "not input events: 3 bytes, where each event has 8")
        let endless = (0..<4_097).flatMap { _ in press(30) }
        #expect(try line(endless) == "a line of more than 4096 bytes, which no Enter has ended")
    }

    @Test("ten thousand random and spoilt batches make a line or a sentence")
    func hardy() throws {
        let seeds = [held(Key.shift, 30) + press(2, Key.enter), held(Key.alt, 82, 77, 75) + press(Key.enter)].map(
            \.hexadecimal)
        #expect(try expectHardy(.wedge, [.input], seeds: seeds) > 0)
    }
}
