// Reads input events from the form that event lines have.
import WakeModel
import WakeSystem

extension EvdevBatches {
    /// Reads the form that ``bytes(of:)`` writes; part of an event at the end is left out.
    static func events(of bytes: ArraySlice<UInt8>) -> [InputEvent] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8).map { start in
            func word(_ offset: Int, _ size: Int) -> UInt32 {
                bytes[(start + offset)..<(start + offset + size)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
            return InputEvent(
                type: UInt16(word(0, 2)), code: UInt16(word(2, 2)), value: Int32(bitPattern: word(4, 4)), time: .zero)
        }
    }
}
