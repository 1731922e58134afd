// A channel of a classic Bluetooth device's serial port, as bluetoothd passes it: a stream socket of the kernel.
import CLinux
import Glibc

public final class RfcommChannel: Sendable {
    public let name: String
    private let descriptor: FileDescriptor

    /// The descriptor that the loop watches.
    public var raw: Int32 { descriptor.raw }

    /// Copies the descriptor `raw`, which keeps its owner.
    public init(copying raw: Int32, named name: String) throws(SystemError) {
        self.name = name
        let copy = try FileDescriptor.duplicate(of: raw)
        try copy.setNonblocking()
        descriptor = copy
    }

    /// Shuts the channel down, because bluetoothd keeps a copy. Closing only this descriptor would leave the channel
    /// up. Bluetoothd would report it as connected for ever, and never pass it again.
    deinit { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }

    /// Reads once; `.closed` where the other side, or the radio, has ended the channel.
    public func read() throws(SystemError) -> NodeReading<[UInt8]> {
        var bytes: [UInt8] = []
        switch descriptor.answerOfRead(appendingTo: &bytes, limit: 4_096) {
        case .value(0): return .closed
        case .value: return .content(bytes)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(let errno) where errno.endsChannel: return .closed
        case .failure(let errno): throw SystemError("read", name, errno)
        }
    }

    /// Writes once, perhaps fewer bytes than offered; the caller keeps the rest.
    public func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult { try descriptor.send(bytes) }
}

extension Errno {
    /// The kernel's errors for a channel whose peer, link or controller has gone.
    fileprivate var endsChannel: Bool {
        tellsGone || [ECONNRESET, ECONNABORTED, ETIMEDOUT, EPIPE, ENOTCONN, EHOSTDOWN, ENETDOWN].contains(code)
    }
}
