// Reads a recording that is lines of text, whatever its lines say.
import WakeModel

protocol LineFollower {
    /// Whether a last line without its newline is one that was cut; where false, it tells itself whether it is whole.
    static var endsInNewline: Bool { get }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError)
    /// Nothing follows: what was gathered is told.
    mutating func finish(into draft: inout TraceDraft) throws(ImportError)
}

extension LineFollower {
    static var endsInNewline: Bool { false }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {}

    /// All lines. With `partial`, those before a fault.
    mutating func readAll(_ cursor: ByteCursor, into draft: inout TraceDraft, partial: Bool)
        throws(ImportError)
    {
        var lines = LineCursor(cursor)
        do throws(ImportError) {
            while let line = try lines.next() {
                guard lines.isWhole || !Self.endsInNewline else {
                    throw RecordFault.cut("the last line", at: lines.offset)
                }
                do throws(ImportError) {
                    try read(line, at: lines.offset, into: &draft)
                } catch {
                    throw lines.isWhole ? error : RecordFault.cut("the last line", at: lines.offset)
                }
            }
        } catch {
            guard partial else { throw error }
            draft.cut = error
        }
        try finish(into: &draft)
    }
}

/// The addresses and colours of a terminal, taken out of what a program printed on it.
extension ArraySlice<UInt8> {
    var withoutStyle: ArraySlice<UInt8> {
        guard contains(where: { $0 < 0x20 && $0 != 0x09 }) else { return self }
        var plain: [UInt8] = []
        var rest = self
        while let byte = rest.popFirst() {
            if byte == 0x1b, rest.first == UInt8(ascii: "[") {
                rest = rest.drop { !(0x40...0x7e).contains($0) || $0 == UInt8(ascii: "[") }.dropFirst()
            } else if byte >= 0x20 || byte == 0x09 {
                plain.append(byte)
            } else if byte == 0x0d, !rest.isEmpty {
                // A prompt that was drawn again stands before it; at the end of a line it ends that.
                plain = []
            }
        }
        return plain[...]
    }
}
