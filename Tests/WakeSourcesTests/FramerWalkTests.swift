// Framers on random streams, whole and broken, in calls of random length: nothing is lost, nothing is made up.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

private let scale = Framing.LengthPrefix(start: [0xaa, 0x55], offset: 3, size: 1, endian: .little, extra: 5)
private let meter = Framing.LengthPrefix(start: [], offset: 0, size: 2, endian: .big, extra: 2)
private let long = Framing.LengthPrefix(start: [0x01], offset: 1, size: 4, endian: .little, extra: 0)

private let framings: [Framing] = [
    .none, .line, .delimiter([0x3b]), .delimiter([0x0d, 0x0a, 0x0d]), .delimiter([0x61, 0x61]), .lengthPrefix(scale),
    .lengthPrefix(meter), .lengthPrefix(long), .fixed(1), .fixed(7), .idle(.milliseconds(5)), .slip, .cobs, .hdlc,
]

@Suite("Framer walk")
struct FramerWalkTests {
    /// Bytes that mean something to one framing or another, among others that mean nothing.
    private func garbage(_ count: Int, _ dice: inout Dice) -> [UInt8] {
        let meaning: [UInt8] = [
            0x00, 0x01, 0x02, 0x03, 0x05, 0x0a, 0x0d, 0x3b, 0x55, 0x61, 0xaa, 0xc0, 0xdb, 0xdc, 0xdd, 0xff,
        ]
        let often = dice.below(4) + 1
        return (0..<count).map { _ in
            dice.isOne(in: often) ? UInt8(dice.below(256)) : meaning[dice.below(meaning.count)]
        }
    }

    @Test(
        "garbage in calls of any length makes the same frames, none is empty or over the limit, and all bytes are in them"
    )
    func garbage() {
        var dice = Dice(4)
        var frameCount = 0
        for round in 0..<2_600 {
            let framing = framings[round % framings.count]
            let limit = [1, 2, 7, 64, 300][dice.below(5)]
            let bytes = garbage(dice.below(700), &dice)
            let oracle = FramingOracle(framing: framing, limit: limit)
            let whole = frames(of: bytes, framing, limit: limit) { bytes.count }
            if framing != .none {
                let apart = frames(of: bytes, framing, limit: limit) { 1 }
                let mixed = frames(of: bytes, framing, limit: limit) { dice.below(40) }
                guard whole == apart, whole == mixed else {
                    Issue.record("\(framing), limit \(limit): \(bytes.hexadecimal)")
                    return
                }
            }
            let longest = longestFrame(framing, limit)
            guard whole.allSatisfy({ (1...longest).contains($0.bytes.count) }), isAccounted(whole, bytes, oracle) else {
                Issue.record("\(framing), limit \(limit): \(bytes.hexadecimal) made \(whole)")
                return
            }
            frameCount += whole.count
        }
        #expect(frameCount > 15_000)
    }

    private func longestFrame(_ framing: Framing, _ limit: Int) -> Int {
        switch framing {
        case .fixed(let length): length
        case .lengthPrefix(let form): max(limit, form.offset + form.size)
        case .none, .line, .delimiter, .idle, .slip, .cobs, .hdlc, .marked: limit
        }
    }

    private func isAccounted(_ frames: [Frame], _ bytes: [UInt8], _ oracle: FramingOracle) -> Bool {
        if case .lengthPrefix(let form) = oracle.framing {
            let oracle = FramingOracle(framing: oracle.framing, limit: longestFrame(oracle.framing, oracle.limit))
            guard frames.filter(\.isMessage).map(\.bytes) == oracle.messages(in: bytes, form) else { return false }
        }
        if let expected = oracle.expected(bytes) {
            return frames.map { ExpectedFrame(isMessage: $0.isMessage, bytes: $0.bytes) } == expected
        }
        return frames.flatMap(\.bytes) == bytes
    }

    @Test("whole messages in a row come out as they went in, however the line cuts them")
    func whole() {
        var dice = Dice(5)
        for round in 0..<1_300 {
            let framing = framings[round % framings.count]
            let oracle = FramingOracle(framing: framing, limit: 600)
            // By time and by call there is no row of messages.
            if case .idle = framing { continue }
            if case .none = framing { continue }
            let messages = (0..<dice.below(20)).map { _ in message(oracle, &dice) }
            let bytes = messages.flatMap(oracle.encoded)
            let made = frames(of: bytes, framing, limit: 600) { dice.below(100) }
            guard made == messages.map(Frame.message) else {
                Issue.record("\(framing): \(messages.map(\.hexadecimal)) made \(made)")
                return
            }
        }
    }

    /// Bytes that the framing can carry: a mark cannot stand in a message that ends with it.
    private func message(_ oracle: FramingOracle, _ dice: inout Dice) -> [UInt8] {
        let body = garbage(6 + dice.below(dice.isOne(in: 5) ? 560 : 30), &dice)
        switch oracle.framing {
        case .fixed(let length): return Array(body.prefix(length)) + garbage(max(0, length - body.count), &dice)
        case .lengthPrefix(let form):
            let short = form.size == 1 ? Array(body.prefix(240)) : body
            return oracle.lengthened(short, form)
        case .line, .delimiter: return body.map { [0x0a, 0x0d, 0x3b, 0x61].contains($0) ? 0x20 : $0 }
        case .none, .idle, .slip, .cobs, .hdlc, .marked: return body
        }
    }

    @Test(
        "a mebibyte that comes byte by byte, without any end in it, takes time in proportion", .timeLimit(.minutes(2)))
    func mebibyte() {
        let hostile: [(Framing, UInt8)] = [
            (.line, 0x0d), (.delimiter([UInt8](repeating: 0x61, count: 15) + [0x62]), 0x61),
            (.lengthPrefix(scale), 0xaa),
            (.lengthPrefix(long), 0x01), (.fixed(1 << 19), 0), (.idle(.seconds(1)), 0), (.slip, 0xdb), (.cobs, 0xff),
            (.hdlc, 0x7d), (.marked([.init(start: [0xaa, 0xab], rest: .fixed(300))]), 0xaa),
            (.marked([.init(start: [0xaa], rest: .line)]), 0xaa),
        ]
        for (framing, byte) in hostile {
            for (limit, count) in [(64, 1 << 16), (1 << 20, 1 << 20)] {
                let bytes = [UInt8](repeating: byte, count: count)
                let made = frames(of: bytes, framing, limit: limit) { 1 }
                #expect(made.reduce(0) { $0 + $1.bytes.count } == count, "\(framing)")
            }
        }
    }
}
