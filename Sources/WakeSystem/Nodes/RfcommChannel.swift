// A channel of a classic Bluetooth device's serial port, as bluetoothd hands it over: a stream socket of the kernel's.
import CLinux
import Glibc

public final class RfcommChannel: Sendable {
    public let name: String
    private let descriptor: FileDescriptor

    /// What the loop watches.
    public var raw: Int32 { descriptor.raw }

    /// Takes a copy of the descriptor `raw`, which stays its owner's.
    public init(copying raw: Int32, named name: String) throws(SystemError) {
        self.name = name
        let copy = try FileDescriptor.duplicate(of: raw)
        try copy.setNonblocking()
        descriptor = copy
    }

    /// Bluetoothd keeps a copy for itself: to close ours alone would leave the channel up, and bluetoothd would answer that
    /// it is connected for ever, without ever handing it over again.
    deinit { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }

    /// Reads once; what the other side, or the radio, has ended is closed.
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

    /// Writes once, perhaps fewer bytes than are offered: what there is no room for is the caller's to keep.
    public func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult { try descriptor.send(bytes) }
}

extension Errno {
    /// What the kernel answers of a channel whose peer, link or controller has gone.
    fileprivate var endsChannel: Bool {
        tellsGone || [ECONNRESET, ECONNABORTED, ETIMEDOUT, EPIPE, ENOTCONN, EHOSTDOWN, ENETDOWN].contains(code)
    }
}
