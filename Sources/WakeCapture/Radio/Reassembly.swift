// L2CAP frames put together again of their fragments, in one direction of one link.
import WakeHCI

struct Reassembly {
    enum Fault: Error { case noStart, interrupted, tooLong }

    /// A frame has a length of two bytes, and four bytes before it.
    private static let limit = 0xffff + 4
    private var bytes: [UInt8] = []

    var isOpen: Bool { !bytes.isEmpty }

    /// The whole frame, with its header, after its last fragment; nil before.
    @inline(__always)
    mutating func add(_ data: ArraySlice<UInt8>, continues: Bool) throws(Fault) -> ArraySlice<UInt8>? {
        // Nearly all frames are one fragment, which needs no copy.
        if !continues, bytes.isEmpty, let length = data.word(0), data.count == Int(length) + 4 { return data }
        return try gather(data, continues: continues)
    }

    private mutating func gather(_ data: ArraySlice<UInt8>, continues: Bool) throws(Fault) -> ArraySlice<UInt8>? {
        let wasOpen = isOpen
        if continues {
            guard wasOpen else { throw .noStart }
            bytes += data
        } else {
            bytes = Array(data)
        }
        let frame = try whole()
        if !continues, wasOpen, frame == nil { throw .interrupted }
        return frame?[...]
    }

    private mutating func whole() throws(Fault) -> [UInt8]? {
        guard let length = bytes[...].word(0) else { return nil }
        guard bytes.count >= Int(length) + 4 else { return nil }
        let frame = bytes
        bytes = []
        guard frame.count == Int(length) + 4 else { throw .tooLong }
        return frame
    }

    /// The known part of a frame is worth nothing any more: a piece of it was lost.
    mutating func drop() { bytes = [] }
}

extension Reassembly.Fault {
    var sentence: String {
        switch self {
        case .noStart: "a fragment continues an L2CAP frame whose start is not in the capture"
        case .interrupted: "an L2CAP frame was left unfinished by a new one"
        case .tooLong: "fragments are longer than the L2CAP frame they belong to"
        }
    }
}
