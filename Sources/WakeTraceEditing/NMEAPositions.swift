// Positions in NMEA 0183 sentences: their digits become zeros, and sums that were right are made right again.
import WakeModel
import WakeTrace

struct NMEAPositions {
    private(set) var bytes: [UInt8]
    /// Whether it holds a sentence at all.
    private(set) var hasSentence = false
    /// A piece of a sentence: it may end within a number.
    private let isPiece: Bool

    /// - Parameter original: the same message as it was received, by which its sums are checked.
    init(in message: [UInt8], asReceived original: [UInt8], isPiece: Bool) {
        (bytes, self.isPiece) = (message, isPiece)
        guard message.contains(UInt8(ascii: ",")) else { return }
        for sentence in Self.sentences(in: message) {
            guard message[sentence].allSatisfy({ (0x20..<0x7f).contains($0) }) else { continue }
            hide(in: sentence)
            guard original.count == message.count else { continue }
            correctSum(of: sentence, original)
        }
    }

    /// From each `$` or `!` to the end of the line, and the bytes before the first.
    private static func sentences(in message: [UInt8]) -> [Range<Int>] {
        var (sentences, start) = ([Range<Int>](), 0)
        for (place, byte) in message.enumerated() {
            let isStart = byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!")
            let isEnd = byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
            guard isStart || isEnd else { continue }
            sentences.append(start..<place)
            start = isStart ? place : place + 1
        }
        return (sentences + [start..<message.count]).filter { !$0.isEmpty }
    }

    private mutating func hide(in sentence: Range<Int>) {
        let star = sentence.first { bytes[$0] == UInt8(ascii: "*") }
        let fields = fields(in: sentence.lowerBound..<(star ?? sentence.upperBound))
        let type = String(decoding: bytes[fields[0]], as: UTF8.self)
        let isSentence = type.utf8.count > 4 && (type.hasPrefix("$") || type.hasPrefix("!"))
        if isSentence { hasSentence = true }
        // Degrees and minutes have three digits at least; `0.02,N` are knots.
        for (field, next) in zip(fields, fields.dropFirst()) where isHemisphere(next) {
            if !isSentence || bytes[field].prefix(while: { decimalDigit($0) != nil }).count >= 3 { clear(field) }
        }
        if isSentence { for place in Self.telling(type, fields.count) { clear(fields[place]) } }
        if isPiece || hasSentence, star == nil, let last = fields.last { clear(last) }
        // A ship's sentence contains its identity and its position.
        if isSentence, type.hasPrefix("!"), fields.count > 5 { fill(fields[5]) }
    }

    /// The numbers that reveal a place without a letter behind them: heights, and satellites' places in the sky.
    private static func telling(_ type: String, _ count: Int) -> [Int] {
        let places: [Int] =
            switch type.suffix(3) {
            case "GGA": [9, 11]
            case "GNS": [9, 10]
            case "GSV": (4..<max(4, count)).filter { $0 % 4 == 1 || $0 % 4 == 2 }
            default: []
            }
        return places.filter { $0 < count }
    }

    private func fields(in range: Range<Int>) -> [Range<Int>] {
        var (fields, start) = ([Range<Int>](), range.lowerBound)
        for place in range where bytes[place] == UInt8(ascii: ",") {
            fields.append(start..<place)
            start = place + 1
        }
        return fields + [start..<range.upperBound]
    }

    private func isHemisphere(_ field: Range<Int>) -> Bool {
        field.count == 1 && "NSEW".utf8.contains(bytes[field.lowerBound])
    }

    /// Only of a number: a word stays.
    private mutating func clear(_ field: Range<Int>) {
        let isNumber = bytes[field].allSatisfy { decimalDigit($0) != nil || ".-".utf8.contains($0) }
        guard isNumber else { return }
        for place in field where decimalDigit(bytes[place]) != nil { bytes[place] = UInt8(ascii: "0") }
    }

    private mutating func fill(_ field: Range<Int>) {
        for place in field { bytes[place] = UInt8(ascii: "0") }
    }

    private mutating func correctSum(of sentence: Range<Int>, _ original: [UInt8]) {
        guard let star = sentence.first(where: { original[$0] == UInt8(ascii: "*") }), star + 2 < sentence.upperBound
        else { return }
        let body = (sentence.lowerBound + 1)..<star
        guard !body.isEmpty, let said = [UInt8](hexadecimal: original[(star + 1)...(star + 2)]) else { return }
        let (before, after) = (Self.sum(original[body]), Self.sum(bytes[body]))
        guard said == [before], after != before else { return }
        bytes.replaceSubrange((star + 1)...(star + 2), with: [after].hexadecimal.uppercased().utf8)
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt8 { bytes.reduce(0) { $0 ^ $1 } }
}
