// Messages that begin with a mark: one kind, or several kinds on one line.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

@Suite("Framings with a mark")
struct MarkedFramingTests {
    /// Messages in hexadecimal, and what is none behind a `~` with its word.
    private func told(_ forms: [Framing.Marked], limit: Int = 64, pieceLength: Int, _ hexadecimal: String) throws
        -> [String]
    {
        var framer = Framer(.marked(forms), limit: limit)
        var rest = try #require([UInt8](hexadecimal: hexadecimal))[...]
        var frames: [Frame] = []
        while !rest.isEmpty {
            frames += framer.append(rest.prefix(pieceLength), at: .zero, readBy: .zero)
            rest = rest.dropFirst(pieceLength)
        }
        frames += framer.end()
        return frames.map { frame in
            switch frame {
            case .message(let bytes): bytes.hexadecimal
            case .fragment(let bytes, let fault): "~\(fault.fragment.rawValue) \(bytes.hexadecimal)"
            }
        }
    }

    private static let nmea = Framing.Marked(start: [0x24], rest: .line)
    private static let ubx = Framing.Marked(
        start: [0xb5, 0x62], rest: .length(.init(start: [0xb5, 0x62], offset: 4, size: 2, endian: .little, extra: 8)))

    @Test("a message has its mark and its length, and what stands before a mark is garbage", arguments: [1, 3, 100])
    func fixed(pieceLength: Int) throws {
        let form = Framing.Marked(start: [0x55, 0xaa], rest: .fixed(4))
        #expect(
            try told([form], pieceLength: pieceLength, "55aa0102" + "00" + "5555aa0304" + "55aa05")
                == ["55aa0102", "~no-start 0055", "55aa0304", "~cut-short 55aa05"])
    }

    @Test("of two protocols on one line each keeps its own end", arguments: [1, 5, 100])
    func several(pieceLength: Int) throws {
        let bytes = "2441420d0a" + "b562010200000000" + "b56201020100ff0000" + "ff" + "244142430a"
        #expect(
            try told([Self.nmea, Self.ubx], pieceLength: pieceLength, bytes)
                == ["244142", "b562010200000000", "b56201020100ff0000", "~no-start ff", "24414243"])
    }

    @Test("a length that cannot be is looked through for the next message")
    func badLength() throws {
        let bytes = "b5620102ffff" + "b562010200000000"
        #expect(
            try told([Self.ubx], pieceLength: 1, bytes) == ["~bad-length b5620102ffff", "b562010200000000"])
    }

    @Test("with a tail the message has its delimiter and the bytes after it")
    func tail() throws {
        let form = Framing.Marked(start: [0x2f], rest: .delimiter([0x21], tail: 2))
        #expect(
            try told([form], pieceLength: 1, "2f4121" + "0102" + "2f21" + "2121" + "2f") == [
                "2f41210102", "2f212121", "~cut-short 2f",
            ])
        let bare = Framing.Marked(start: [0x02], rest: .delimiter([0x03], tail: nil))
        #expect(try told([bare], pieceLength: 2, "02414203" + "0203") == ["024142", "02"])
    }

    @Test("a message that does not end within the limit is too long up to its end", arguments: [1, 3, 100])
    func tooLong(pieceLength: Int) throws {
        let line = "24" + String(repeating: "41", count: 10) + "0d0a" + "24420a"
        #expect(
            try told([Self.nmea], limit: 4, pieceLength: pieceLength, line)
                == ["~too-long 24414141", "~too-long 41414141", "~too-long 414141", "2442"])
        #expect(
            try told([Self.nmea], limit: 4, pieceLength: pieceLength, "2441424344" + "0a" + "24414243" + "0d0a")
                == ["~too-long 24414243", "~too-long 44", "24414243"])
        // A mark within it begins no message.
        let marked = "2441414141414141" + "b562010200000a" + "24420a"
        #expect(
            try told([Self.nmea, Self.ubx], limit: 8, pieceLength: pieceLength, marked)
                == ["~too-long 2441414141414141", "~too-long b56201020000", "2442"])
        #expect(
            try told([Self.nmea], limit: 4, pieceLength: pieceLength, "244141414141414141")
                == ["~too-long 24414141", "~cut-short 41414141", "~cut-short 41"])
    }

    @Test("a message with a tail that is too long is so up to its last byte", arguments: [1, 2, 100])
    func tooLongTail(pieceLength: Int) throws {
        let form = Framing.Marked(start: [0x2f], rest: .delimiter([0x0d, 0x0a, 0x21], tail: 2))
        for length in 1...12 {
            let text = String(repeating: "41", count: length)
            let made = try told(
                [form], limit: 8, pieceLength: pieceLength, "2f" + text + "0d0a21" + "3132" + "2f0d0a213334")
            let whole = "2f" + text + "0d0a213132"
            #expect(made.last == "2f0d0a213334", "\(length)")
            #expect(length <= 2 ? made.first == whole : made.dropLast().allSatisfy { $0.hasPrefix("~too-long ") })
            let kept = made.dropLast().map { $0.split(separator: " ").last.map(String.init) ?? "" }
            #expect(kept.joined() == whole, "\(length)")
        }
    }

    @Test("of several forms each has its own limit")
    func limits() throws {
        let line = Framing.Marked(start: [0x24], rest: .line, limit: 4)
        var long = Self.ubx
        long.limit = 9
        let bytes = "24414243440a" + "b56201020100ff0000" + "b56201020200ffff0000" + "24420a"
        let made = try told([line, long], limit: 100, pieceLength: 1, bytes)
        #expect(made.prefix(3) == ["~too-long 24414243", "~too-long 44", "b56201020100ff0000"])
        #expect(made.last == "2442" && made.dropFirst(3).dropLast().allSatisfy { $0.hasPrefix("~bad-length ") })
    }

    @Test("every byte is in exactly one frame, or is an end, however the stream is cut")
    func accounted() throws {
        var dice = Dice(77)
        let alphabet: [UInt8] = [0x24, 0xb5, 0x62, 0x01, 0x00, 0x0a, 0x0d, 0x41]
        for _ in 0..<2_000 {
            let bytes = (0..<dice.below(60)).map { _ in alphabet[dice.below(alphabet.count)] }
            let whole = try told([Self.nmea, Self.ubx], limit: 16, pieceLength: 100, bytes.hexadecimal)
            #expect(try told([Self.nmea, Self.ubx], limit: 16, pieceLength: 1, bytes.hexadecimal) == whole)
            let kept = whole.flatMap { [UInt8](hexadecimal: $0.split(separator: " ").last ?? "") ?? [] }
            #expect(kept.filter { $0 != 0x0a && $0 != 0x0d } == bytes.filter { $0 != 0x0a && $0 != 0x0d })
        }
    }
}
