// Messages whose check is wrong: whole ones that a false beginning or a lost end has swallowed are found within them.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

/// The last byte is the sum of those before it.
private struct SumJudge: MessageJudge {
    func isDamaged(_ message: [UInt8]) -> Bool {
        guard let sum = message.last, message.count > 1 else { return true }
        return message.dropLast().reduce(0, &+) != sum
    }
}

private func summed(_ bytes: [UInt8]) -> [UInt8] { bytes + [bytes.reduce(0, &+)] }

/// Messages in hexadecimal, and what is none behind a `~` with its word; the same however the stream is cut.
private func told(_ framing: Framing, limit: Int = 32, _ bytes: [UInt8]) -> [String] {
    let made = [1, 3, 1_000].map { length in
        var framer = Framer(framing, limit: limit, trial: MessageTrial(SumJudge()))
        let frames = stride(from: 0, to: bytes.count, by: length).flatMap { place in
            framer.append(bytes[place..<min(place + length, bytes.count)], at: .zero)
        }
        return (frames + framer.end()).map { frame in
            switch frame {
            case .message(let bytes): bytes.hexadecimal
            case .fragment(let bytes, let fault): "~\(fault.fragment.rawValue) \(bytes.hexadecimal)"
            }
        }
    }
    #expect(made[0] == made[1] && made[1] == made[2])
    return made[0]
}

@Suite("A second look at damaged messages")
struct SecondLookTests {
    private let fixed = Framing.marked([.init(start: [0x42, 0x4d], rest: .fixed(6))])
    private func fixedMessage(_ number: UInt8) -> [UInt8] { summed([0x42, 0x4d, number, number, 9]) }

    @Test("a message that lost a byte costs no other one")
    func lostByte() {
        let bytes = fixedMessage(1) + fixedMessage(2).dropLast(2) + [0x99] + fixedMessage(3) + fixedMessage(4)
        #expect(
            told(fixed, bytes) == [
                fixedMessage(1).hexadecimal, "~bad-check 424d020299", fixedMessage(3).hexadecimal,
                fixedMessage(4).hexadecimal,
            ])
    }

    @Test("a mark that came by chance costs no message")
    func falseMark() {
        let bytes = [0x42, 0x4d] + fixedMessage(1) + fixedMessage(2)
        #expect(
            told(fixed, bytes) == ["~bad-check 424d", fixedMessage(1).hexadecimal, fixedMessage(2).hexadecimal])
    }

    @Test("a damaged message in which no other begins stays one message, so that its check is told")
    func changedByte() {
        var damaged = fixedMessage(1)
        damaged[3] = 0x77
        #expect(told(fixed, damaged + fixedMessage(2)) == [damaged.hexadecimal, fixedMessage(2).hexadecimal])
    }

    @Test("a length that came by chance costs no message, also where the stream ends within it")
    func falseLength() {
        let form = Framing.lengthPrefix(.init(start: [0xb5], offset: 1, size: 1, endian: .little, extra: 3))
        func message(_ number: UInt8) -> [UInt8] { summed([0xb5, 3, number, number, number]) }
        let bytes = [0xb5, 20] + message(1) + message(2) + message(3) + message(4)
        let made = told(form, bytes)
        #expect(made == ["~bad-check b514"] + (1...4).map { message($0).hexadecimal })
        let short = [0xb5, 20] + message(1) + message(2)
        #expect(told(form, short) == ["~cut-short b514"] + (1...2).map { message($0).hexadecimal })
    }

    @Test("without a mark each byte may begin a message, and the line is found again after a lost one")
    func withoutMark() {
        func message(_ number: UInt8) -> [UInt8] { summed([number, 0x70, number, 0x31]) }
        let bytes = message(1) + message(2).dropFirst() + message(3) + message(4)
        let made = told(.fixed(5), bytes)
        #expect(made.filter { !$0.hasPrefix("~") } == [1, 3, 4].map { message($0).hexadecimal })
        #expect(made.filter { $0.hasPrefix("~") } == ["~bad-check \(Array(message(2).dropFirst()).hexadecimal)"])
    }

    @Test("a message that lost its end costs no other one, where both begin with a mark")
    func lostEnd() {
        let form = Framing.marked([.init(start: [0x2f], rest: .delimiter([0x21], tail: 1))])
        func message(_ number: UInt8) -> [UInt8] { summed([0x2f, 0x41, number, 0x21]) }
        let bytes = message(1) + message(2).dropLast(2) + message(3)
        #expect(told(form, bytes) == [message(1).hexadecimal, "~bad-check 2f4102", message(3).hexadecimal])
    }

    @Test("messages without a mark are known by the beginning of earlier ones")
    func knownBeginning() {
        func message(_ number: UInt8) -> [UInt8] { summed([0x50, 0x49, 0x44, 0x09, number]) }
        let lines = message(1) + [0x0a] + message(2).dropLast() + message(3) + [0x0a] + message(4) + [0x0a]
        #expect(
            told(.line, lines) == [
                message(1).hexadecimal, "~bad-check 5049440902", message(3).hexadecimal, message(4).hexadecimal,
            ])
        // Only an end is missing: both are whole.
        let joined = message(1) + [0x7e] + message(2) + message(3) + [0x7e]
        #expect(told(.hdlc, joined) == (1...3).map { message($0).hexadecimal })
    }

    @Test("a line of another protocol within a message is taken out of it, and comes as its own")
    func interrupted() {
        let forms: [Framing.Marked] = [
            .init(start: [], rest: .delimiter([0x0d, 0x0a, 0x43], tail: 1), limit: 32),
            .init(start: [0x3a], rest: .line, limit: 8, interrupts: true),
        ]
        let block = summed([0x0d, 0x0a, 0x56, 0x31, 0x0d, 0x0a, 0x43])
        let line: [UInt8] = [0x3a, 0x41, 0x42]
        let within = block[..<4] + line + [0x0a] + block[4...]
        #expect(
            told(.marked(forms), line + [0x0a] + block + line + [0x0a] + within + block) == [
                line.hexadecimal, block.hexadecimal, line.hexadecimal, line.hexadecimal, block.hexadecimal,
                block.hexadecimal,
            ])
        // Behind the delimiter it is the sum, though it looks like a mark.
        let alike = summed([0xe0, 0x0d, 0x0a, 0x43])
        #expect(alike.last == 0x3a && told(.marked(forms), alike + block) == [alike.hexadecimal, block.hexadecimal])
    }

    @Test("a line of nothing but marks costs little, and every byte stays in one frame")
    func onlyMarks() {
        for framing in [fixed, .marked([.init(start: [0x42], rest: .line)]), .fixed(16)] {
            let bytes = [UInt8](repeating: 0x42, count: 1 << 14)
            var framer = Framer(framing, limit: 4_096, trial: MessageTrial(SumJudge()))
            let frames = framer.append(bytes[...], at: .zero) + framer.end()
            #expect(frames.reduce(0) { $0 + $1.bytes.count } == bytes.count)
        }
    }
}
