// One LE link in a capture: reassembles fragments, and remembers which request an answer belongs to.
import WakeHCI
import WakeModel
import WakeTrace

struct ImportedLink {
    /// The latest question to the peer, which gives its answer a meaning.
    enum Question {
        case none, services, characteristics, name
        case service(BluetoothUUID)
    }

    var peer: Int
    var question = Question.none
    private var sent = Reassembly()
    private var received = Reassembly()

    init(peer: Int) { self.peer = peer }

    /// Adds an ACL packet's data; returns the whole L2CAP frame, with its header, after its last fragment.
    mutating func add(_ data: ArraySlice<UInt8>, boundary: UInt16, isReceived: Bool) throws(Reassembly.Fault)
        -> [UInt8]?
    {
        isReceived ? try received.add(data, boundary: boundary) : try sent.add(data, boundary: boundary)
    }
}

/// One direction of one link.
struct Reassembly {
    enum Fault: Error { case noStart, interrupted, tooLong }

    private var bytes: [UInt8] = []

    /// `boundary` is the packet boundary flag: 1 continues, anything else starts a frame.
    mutating func add(_ data: ArraySlice<UInt8>, boundary: UInt16) throws(Fault) -> [UInt8]? {
        let wasOpen = !bytes.isEmpty
        if boundary == 1 {
            guard wasOpen else { throw .noStart }
            bytes += data
        } else {
            bytes = Array(data)
        }
        let frame = try whole()
        if boundary != 1, wasOpen, frame == nil { throw .interrupted }
        return frame
    }

    private mutating func whole() throws(Fault) -> [UInt8]? {
        guard let length = bytes[...].word(0) else { return nil }
        guard bytes.count >= Int(length) + 4 else { return nil }
        let frame = bytes
        bytes = []
        guard frame.count == Int(length) + 4 else { throw .tooLong }
        return frame
    }
}
