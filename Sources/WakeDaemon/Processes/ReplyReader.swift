// A process's descriptor 3 from our side: what the handler says, cut into lines, and when it is not listened to.
import WakeLoop
import WakeModel
import WakeSystem

/// Where replies are read into before they are cut into lines; one for all processes, because each empties it at once.
final class ReadSpace {
    fileprivate var bytes = [UInt8](repeating: 0, count: 8 << 10)
}

/// Owns the watch on a socket that its process owns; it must be let go of before the socket is closed.
final class ReplyReader {
    /// Reads once into the front of the bytes; nil where that failed.
    typealias Source = (inout [UInt8]) -> ReadResult?

    private var watch: Watch?
    private var splitter = LineSplitter()
    private let space: ReadSpace
    private let read: Source
    private let tell: (Result<ArraySlice<UInt8>, ProtocolFault>) -> Void
    private var isHeld = false

    init(
        of raw: Int32, on loop: EventLoop, space: ReadSpace, read: @escaping Source,
        tell: @escaping (Result<ArraySlice<UInt8>, ProtocolFault>) -> Void
    ) throws(SystemError) {
        self.space = space
        self.read = read
        self.tell = tell
        // One reading a turn, so that a handler that floods does not starve the others.
        watch = try loop.watch(raw, for: .readable) { [unowned self] _ in _ = readOnce() }
    }

    /// Hears nothing until ``release()``; false where it was so already.
    func hold() -> Bool {
        guard !isHeld else { return false }
        isHeld = true
        watch?.disable()
        return true
    }

    func release() {
        guard isHeld else { return }
        isHeld = false
        watch?.enable()
    }

    /// Hears every line that was written before now: after a freeze, and after an exit. A socket holds less than this,
    /// and whom a dead handler left behind may go on writing for ever.
    func drain() {
        for _ in 0..<64 { guard readOnce() else { return } }
    }

    /// True while there may be more.
    private func readOnce() -> Bool {
        guard let result = read(&space.bytes) else { return false }
        switch result {
        case .bytes(let count):
            splitter.append(space.bytes[..<count])
            while let line = splitter.next() { tell(line) }
            return true
        case .wouldBlock: return false
        case .endOfFile, .closed:
            if let rest = splitter.finish() { tell(rest) }
            watch?.disable()
            return false
        }
    }
}
