// Bytes of a serial line as they were logged, without times: paced by how long they take on the line.
import WakeModel

enum RawSerialReader {
    private static let piece = 64

    /// A log does not show which bytes were read together: if it is no text, messages are pieces of one length.
    static func readAll(
        _ cursor: ByteCursor, into draft: inout TraceDraft, _ terms: ImportTerms
    ) throws(ImportError) {
        draft.advance(by: .zero)
        guard let place = draft.serialDevice(alias: terms.alias, named: "serial") else { return }
        var (cursor, isOver) = (cursor, false)
        while !isOver {
            do throws(ImportError) { isOver = try !cursor.has(piece) } catch {
                guard terms.partial else { throw error }
                (draft.cut, isOver) = (error, true)
            }
            let bytes = Array(cursor.readHeld(most: piece))
            if bytes.isEmpty { break }
            draft.advance(by: terms.pace.span(bytes: bytes.count))
            draft.counts.records += 1
            draft.addSerial(bytes, from: place)
        }
    }
}
