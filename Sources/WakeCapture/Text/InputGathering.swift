// Input events gathered into simultaneous ones, in the form in which an event line has them.
import WakeModel

/// Gathers up to a SYN_REPORT, which is left out; a loss that the kernel reports is left out whole.
struct InputGathering {
    /// Events in one batch at most, as the bridge cuts them.
    private static let limit = 256

    private var bytes: [UInt8] = []
    /// No batch has ended yet.
    private(set) var isFirst = true
    private var isDropping = false

    /// 8 bytes: type, code and value, the lowest byte of each first.
    mutating func add(_ type: UInt16, _ code: UInt16, _ value: Int32, to draft: inout TraceDraft, _ place: Int) {
        if type == 0 {
            if code == 3 { (bytes, isDropping) = ([], true) }
            if code == 0 {
                if isDropping { draft.warn("the kernel dropped events of \(draft.devices[place].facts.address)") }
                end(into: &draft, place)
                isDropping = false
            }
            if code != 2 { return }
        }
        guard !isDropping else { return }
        if bytes.count == Self.limit * 8 { end(into: &draft, place) }
        bytes += type.littleEndianBytes + code.littleEndianBytes
        for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    private mutating func end(into draft: inout TraceDraft, _ place: Int) {
        guard !bytes.isEmpty else { return }
        isFirst = false
        draft.addBatch(bytes, from: place)
        bytes = []
    }

    /// Whether events came after the last SYN_REPORT; they are half of something.
    var isOpen: Bool { !bytes.isEmpty }
}
