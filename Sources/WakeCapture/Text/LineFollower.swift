// Reads a recording of text lines, of any format.
import WakeModel

protocol LineFollower {
    /// Whether a last line without its newline is whole all the same.
    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError)
    /// No line follows: adds the gathered part.
    mutating func finish(into draft: inout TraceDraft) throws(ImportError)
}

extension LineFollower {
    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { true }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {}

    /// Reads all lines. With `partial`, those before a fault. A line that cannot be read is left out with a warning; a
    /// recording without a readable line is a fault.
    mutating func readAll(_ cursor: ByteCursor, into draft: inout TraceDraft, partial: Bool)
        throws(ImportError)
    {
        let before = draft.understood
        var (lines, count) = (LineCursor(cursor), 0)
        do throws(ImportError) {
            while let line = try lines.next() {
                count += 1
                guard lines.isWhole || Self.isWhole(line) else {
                    throw RecordFault.cut("the last line", at: lines.offset)
                }
                try readLine(line, count, lines, into: &draft)
            }
        } catch {
            guard partial else { throw error }
            draft.cut = error
        }
        try finish(into: &draft)
        guard draft.cut != nil || draft.understood != before else {
            let reason = "of its \(count.counted("line")), 1 to \(count), none has a value or an act of a device"
            throw ImportError(offset: 0, reason: reason)
        }
    }

    private mutating func readLine(
        _ line: ArraySlice<UInt8>, _ number: Int, _ lines: LineCursor, into draft: inout TraceDraft
    ) throws(ImportError) {
        do throws(ImportError) {
            try read(line, at: lines.offset, into: &draft)
        } catch {
            guard lines.isWhole else { throw RecordFault.cut("the last line", at: lines.offset) }
            if error.endsImport { throw error }
            draft.warn("\(error.reason); line \(number) is left out", at: error.offset)
        }
    }
}

/// Finds prompts and control sequences in a program's output.
extension ArraySlice<UInt8> {
    /// `[bluetooth]#` or `[C0:F1:F2:F3:F4:01][LE]>`, with nothing typed behind it.
    var isPrompt: Bool {
        let text = withoutStyle
        guard let last = text.trimmed.last else { return text.isEmpty }
        return text.hasPrefix("[") && (last == UInt8(ascii: "#") || last == UInt8(ascii: ">"))
    }

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
                // A redrawn prompt precedes it; at the end of a line it ends that.
                plain = []
            }
        }
        return plain[...]
    }
}
