// SML, Smart Message Language, of electricity meters: files between escape sequences are cut out of a serial line.
import WakeModel

struct SMLStream: Hashable, Sendable {
    private static let escape: [UInt8] = [0x1b, 0x1b, 0x1b, 0x1b]
    private static let begin: [UInt8] = escape + [1, 1, 1, 1]
    /// A file without an end is given up.
    private static let longest = 65_536

    /// The bytes since the beginning of a file that has not ended.
    private var held: [UInt8] = []
    /// Up to where there is no end: a file that comes byte by byte is looked through once.
    private var scanned = 0

    /// Nil while a file goes on. A piece that ends several files has the value of the last: each contains the meter's
    /// readings.
    mutating func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        held += message.bytes
        var (fields, fault): (DecodedFields?, DecoderFault?) = (nil, nil)
        while let file = nextFile() {
            do throws(DecoderFault) { fields = try Self.read(file) } catch {
                fault = error
                takeAgain(file)
            }
        }
        if held.count > Self.longest {
            (held, scanned) = ([], 0)
            fault = .unfit("an SML file of more than 64 KiB, which no escape sequence has ended")
        }
        if fields == nil, let fault { throw fault }
        return fields
    }

    /// Removes a whole file, with its escape sequences.
    private mutating func nextFile() -> [UInt8]? {
        // The held bytes begin with a file, or are few.
        guard let start = held.starts(with: Self.begin) ? 0 : Self.place(of: Self.begin, in: held, from: 0) else {
            // The beginning may come with the next bytes.
            held.removeFirst(max(0, held.count - Self.begin.count + 1))
            return nil
        }
        if start > 0 { (held, scanned) = (Array(held[start...]), 0) }
        guard let end = findEnd() else { return nil }
        defer { (held, scanned) = (Array(held[end...]), 0) }
        return Array(held[..<end])
    }

    /// A file that lost its end has the next one in it, from its beginning on.
    private mutating func takeAgain(_ file: [UInt8]) {
        guard let start = Self.place(of: Self.begin, in: file, from: 1) else { return }
        (held, scanned) = (file[start...] + held, 0)
    }

    /// Whether bytes are one file with the right check.
    static func isWhole(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: begin) && bytes.count >= begin.count + 8 && isChecked(bytes)
    }

    /// Some meters begin the same check with zero.
    private static func isChecked(_ file: [UInt8]) -> Bool {
        let (found, checked) = (file.suffix(2).littleEndianNumber, file.dropLast(2))
        return found == check(checked, start: 0xffff) ^ 0xffff || found == check(checked, start: 0)
    }

    /// Behind the end sequence, its count of padding and its check; nil where they are not there yet.
    private mutating func findEnd() -> Int? {
        scanned = max(scanned, Self.begin.count)
        while let found = Self.place(of: Self.escape, in: held, from: scanned) {
            scanned = found
            let next = held[(found + 4)...]
            if next.starts(with: Self.escape) {
                scanned = found + 8
            } else if next.first == 0x1a {
                return next.count >= 4 ? found + 8 : nil
            } else if next.count < 4 {
                return nil
            } else {
                scanned = found + 1
            }
        }
        scanned = max(scanned, held.count - Self.escape.count + 1)
        return nil
    }

    private static func place(of mark: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + mark.count else { return nil }
        return (start...(bytes.count - mark.count)).first { bytes[$0...].starts(with: mark) }
    }

    private static func read(_ file: [UInt8]) throws(DecoderFault) -> DecodedFields? {
        guard isChecked(file) else {
            throw DecoderFault.unfit("a wrong check: the SML file says \(Array(file.suffix(2)).hexadecimal)")
        }
        let padding = Int(file[file.count - 3])
        let body = file.dropFirst(begin.count).dropLast(8)
        guard padding < 4, padding <= body.count else {
            throw DecoderFault.unfit("an SML file with \(padding) bytes of padding")
        }
        return try SMLFile.read(unescaped(body.dropLast(padding)))
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var (result, rest) = ([UInt8](), bytes)
        while let byte = rest.first {
            let isEscaped = rest.starts(with: escape + escape)
            result += isEscaped ? escape : [byte]
            rest = rest.dropFirst(isEscaped ? 8 : 1)
        }
        return result
    }

    /// The register of CRC-16 with the polynomial 1021, lowest bit first.
    private static func check(_ bytes: ArraySlice<UInt8>, start: UInt64) -> UInt64 {
        var check = start
        for byte in bytes {
            check ^= UInt64(byte)
            for _ in 0..<8 { check = check & 1 == 0 ? check >> 1 : check >> 1 ^ 0x8408 }
        }
        return check
    }
}
