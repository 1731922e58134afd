// Each framing by example: what is a message, what is none, and the sentence that says why.
import Testing
import WakeModel

@testable import WakeSources

/// The frames of `calls`, each written with `~` before what is no message and its sentence after it.
private func told(_ framing: Framing, limit: Int = 16, _ calls: [[UInt8]]) -> [String] {
    var framer = Framer(framing, limit: limit)
    let frames = calls.flatMap { framer.append($0[...], at: .zero) } + framer.end()
    return frames.map { frame in
        switch frame {
        case .message(let bytes): bytes.hexadecimal
        case .fragment(let bytes, let fault): "~\(bytes.hexadecimal) \(fault)"
        }
    }
}

private func text(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
private func hex(_ text: String) -> String { Array(text.utf8).hexadecimal }

private let overLimit = "too long: the message did not end within the limit of 16 bytes"
private let cut = "cut short: the line ended before the message did"

@Suite("Framer")
struct FramerTests {
    @Test("without framing a call is a message, cut where it is over the limit")
    func none() {
        #expect(told(.none, limit: 4, text("abc", "", "abcdefghi")) == ["abc", "abcd", "efgh", "i"].map(hex))
    }

    @Test("lines end with LF or CR LF; empty ones are none; what is left at the end is cut short")
    func line() {
        let made = told(.line, text("$GP", "GGA\r", "\n\n\r\nplain\nod\rd\n", "rest\r"))
        #expect(made == [hex("$GPGGA"), hex("plain"), hex("od\rd"), "~\(hex("rest\r")) \(cut)"])
    }

    @Test("a line of just the limit is a message; one byte more comes in pieces, and the next line is whole again")
    func longLine() {
        let limit = String(repeating: "x", count: 16)
        #expect(told(.line, text("\(limit)\r\nok\n")) == [hex(limit), hex("ok")])
        #expect(
            told(.line, text("\(limit)y\r\nok\n")) == ["~\(hex(limit)) \(overLimit)", "~79 \(overLimit)", hex("ok")])
        #expect(
            told(.line, text("\(limit)\(limit)\n")) == ["~\(hex(limit)) \(overLimit)", "~\(hex(limit)) \(overLimit)"])
    }

    @Test("a delimiter is any row of bytes; its beginning alone ends nothing, and it is found across calls")
    func delimiter() {
        #expect(
            told(.delimiter(Array("EOM".utf8)), text("aEO", "Mb", "EOEOM", "EOM", "c")) == [
                hex("a"), hex("bEO"), "~63 \(cut)",
            ])
    }

    private let scale = Framing.LengthPrefix(start: [0xaa, 0x55], offset: 2, size: 1, endian: .little, extra: 4)

    @Test("a message with its length in it is found behind garbage, which is told apart")
    func lengthPrefix() {
        let garbage = "garbage: these bytes stand before the mark that a message starts with"
        #expect(
            told(.lengthPrefix(scale), [[0xaa, 0x55, 2, 1, 2, 9, 0xaa, 0x55, 0, 7]]) == [
                "aa550201" + "0209", "aa550007",
            ])
        #expect(
            told(.lengthPrefix(scale), [[1, 0xaa, 2, 0xaa], [0xaa], [0x55, 0, 7, 0xaa, 0x55]]) == [
                "~01aa02aa \(garbage)", "aa550007", "~aa55 \(cut)",
            ])
    }

    @Test("a length that cannot be is told, and the next start is looked for within what it was taken from")
    func badLength() {
        let bad = "a length that cannot be: it makes a message of 174 bytes, possible are 3 to 16"
        #expect(told(.lengthPrefix(scale), [[0xaa, 0x55, 0xaa, 0x55, 0, 7]]) == ["~aa55 \(bad)", "aa550007"])
        let big = Framing.LengthPrefix(start: [], offset: 0, size: 2, endian: .big, extra: 0)
        let none = "a length that cannot be: it makes a message of 1 bytes, possible are 2 to 16"
        #expect(
            told(.lengthPrefix(big), [[0, 1, 0, 3, 9, 0]]) == [
                "~0001 \(none)", "000309", "~00 \(cut)",
            ])
    }

    @Test("a fixed length cuts by count alone, whatever the limit")
    func fixed() {
        #expect(told(.fixed(3), limit: 2, [[1, 2], [3, 4, 5, 6, 7]]) == ["010203", "040506", "~07 \(cut)"])
    }

    @Test("SLIP ends with c0 and unescapes; two ends in a row are no message; a bad escape is told as it came")
    func slip() {
        #expect(told(.slip, [[0xc0, 0xc0, 1, 0xdb, 0xdc, 0xdb, 0xdd, 2, 0xc0, 0xc0, 3, 0xc0]]) == ["01c0db02", "03"])
        #expect(
            told(.slip, [[1, 0xdb, 0x41, 2, 0xc0, 3, 0xdb, 0xc0, 4, 0xc0, 5]]) == [
                "~01db4102 a bad escape: SLIP has no 0x41 after 0xdb",
                "~03db a bad escape: SLIP has no 0xc0 after 0xdb",
                "04", "~05 \(cut)",
            ])
    }

    @Test("SLIP counts its limit in bytes of the message, not of the line")
    func slipLimit() {
        let escaped: [UInt8] = [0xdb, 0xdc, 0xdb, 0xdc, 0xdb, 0xdc]
        #expect(told(.slip, limit: 3, [escaped + [0xc0]]) == ["c0c0c0"])
        let fault = "too long: the message did not end within the limit of 3 bytes"
        #expect(
            told(.slip, limit: 3, [escaped + [1, 0xc0, 2, 0xc0]]) == [
                "~dbdcdb \(fault)", "~dcdbdc \(fault)", "~01 \(fault)", "02",
            ])
    }

    @Test(
        "COBS decodes the published examples",
        arguments: [
            ("0101", "00"), ("010101", "0000"), ("01021101", "00" + "1100"), ("0311220233", "11220033"),
            ("0511223344", "11223344"), ("0211010101", "11000000"),
        ])
    func cobs(line: String, message: String) throws {
        let bytes = try #require([UInt8](hexadecimal: line))
        #expect(told(.cobs, [bytes + [0]]) == [message])
    }

    @Test("COBS without a message is none, and a code that asks for too much is told as it came")
    func badCode() {
        #expect(told(.cobs, [[0, 0, 1, 0]]) == [])
        #expect(
            told(.cobs, [[3, 0x11, 0, 2, 0x22, 0, 2]]) == [
                "~0311 a bad code: COBS asks for 2 more bytes, 1 are left", "22", "~02 \(cut)",
            ])
    }

    @Test("COBS carries runs of 254 and more, with and without a zero behind them")
    func longRuns() throws {
        let run = (1...254).map { UInt8($0) }
        for message in [run, run + [0], run + [0xff], [0] + run, run + run] {
            let oracle = FramingOracle(framing: .cobs, limit: 600)
            let line = oracle.encoded(message)
            #expect(told(.cobs, limit: 600, [line]) == [message.hexadecimal])
        }
        // Some encoders end a full run without the code of an empty one.
        #expect(told(.cobs, limit: 600, [[0xff] + run + [0]]) == [run.hexadecimal])
    }
}

@Suite("What a framer has open")
struct OpenSinceTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("is as old as the first byte that stands in no frame yet, and nothing once all are told")
    func isKnown() {
        var framer = Framer(.line, limit: 16)
        #expect(framer.openSince == nil)
        _ = framer.append(Array("ab".utf8)[...], at: at(1))
        _ = framer.append(Array("cd".utf8)[...], at: at(2))
        #expect(framer.openSince == at(1))
        _ = framer.append(Array("\nx".utf8)[...], at: at(3))
        #expect(framer.openSince == at(3))
        _ = framer.append(Array("\n".utf8)[...], at: at(4))
        #expect(framer.openSince == nil)
        _ = framer.append(Array("y".utf8)[...], at: at(5))
        _ = framer.end()
        #expect(framer.openSince == nil)
    }

    @Test("is as old as the beginning of a message before which garbage is told later")
    func isKnownBehindGarbage() {
        let form = Framing.LengthPrefix(start: [0xaa, 0x55], offset: 2, size: 1, endian: .little, extra: 3)
        var framer = Framer(.lengthPrefix(form), limit: 16)
        #expect(framer.append([1, 2, 0xaa], at: at(1)) == [])
        #expect(framer.openSince == at(1))
        #expect(framer.append([0x55], at: at(2)) == [])
        #expect(framer.append([5], at: at(3)) == [.fragment([1, 2], .noStart)])
        #expect(framer.openSince == at(1))
        #expect(framer.append([1, 2, 3, 4, 5, 0xaa], at: at(4)) == [.message([0xaa, 0x55, 5, 1, 2, 3, 4, 5])])
        #expect(framer.openSince == at(4))
    }

    @Test("is as old as the silence that it waits for")
    func isKnownInSilence() {
        var framer = Framer(.idle(.milliseconds(5)), limit: 16)
        _ = framer.append([1], at: at(1))
        _ = framer.append([2], at: at(4))
        #expect(framer.openSince == at(1))
        _ = framer.tick(at: at(9))
        #expect(framer.openSince == nil)
    }
}

@Suite("Framing by silence")
struct IdleFramingTests {
    private let gap = TimeSpan.milliseconds(5)
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("a silence that was waited for ends a message")
    func silence() {
        var framer = Framer(.idle(gap), limit: 16)
        #expect(framer.deadline == nil)
        #expect(framer.append([1], at: at(0)) == [])
        #expect(framer.append([2], at: at(4)) == [])
        #expect(framer.deadline == at(9))
        #expect(framer.tick(at: at(8)) == [])
        #expect(framer.tick(at: at(9)) == [.message([1, 2])])
        #expect(framer.deadline == nil)
        #expect(framer.tick(at: at(20)) == [])
        #expect(framer.append([3], at: at(30)) == [])
        #expect(framer.end() == [.fragment([3], .cutShort)])
        #expect(framer.deadline == nil)
    }

    @Test("time that passed between two reads is no silence of the device: the bridge itself may have been late")
    func lateness() {
        var framer = Framer(.idle(gap), limit: 16)
        #expect(framer.append([1], at: at(0)) == [])
        #expect(framer.append([2], at: at(300)) == [])
        #expect(framer.tick(at: at(305)) == [.message([1, 2])])
        // Reading took a while itself, and silence begins after it.
        #expect(framer.append([3], at: at(400), readBy: at(450)) == [])
        #expect(framer.tick(at: at(454)) == [])
        #expect(framer.tick(at: at(455)) == [.message([3])])
    }

    @Test("what goes on without a silence comes in pieces until there is one")
    func noSilence() {
        var framer = Framer(.idle(gap), limit: 2)
        #expect(
            framer.append([1, 2, 3, 4, 5], at: at(0)) == [
                .fragment([1, 2], .tooLong(limit: 2)), .fragment([3, 4], .tooLong(limit: 2)),
            ])
        #expect(framer.tick(at: at(5)) == [.fragment([5], .tooLong(limit: 2))])
        #expect(framer.append([6, 7], at: at(6)) == [])
        #expect(framer.tick(at: at(11)) == [.message([6, 7])])
    }
}
