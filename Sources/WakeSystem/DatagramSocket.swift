// A Unix datagram socket that one user may write to; the kernel reports the sender of each datagram.
import CLinux
import Glibc

public struct Datagram: Sendable {
    public var bytes: [UInt8]
    /// Longer than the limit; the rest is lost when the datagram is dropped.
    public var isTruncated: Bool
    /// It carries descriptors. The files behind them decide how long dropping it takes.
    public var carriesDescriptors: Bool
    public var sender: PeerCredentials
}

/// Owns the socket and its name, which is removed with it. Descriptors that come with datagrams are never opened here:
/// dropping a datagram closes them, and for a barrier of sd_notify that is the answer.
public final class DatagramSocket {
    public let path: String
    private let socket: SharedSocket
    private let closings: ForeignClosings
    public var raw: Int32 { socket.descriptor.raw }

    /// The descriptor, open as long as the socket or a thread that drops one of its datagrams needs it.
    private final class SharedSocket: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

        /// False where there was no datagram to drop.
        @discardableResult
        func dropNext() -> Bool {
            let number = descriptor.raw
            return if case .value = attemptC({ clinux_drop_datagram(number) }) { true } else { false }
        }
    }

    /// Binds a new name; only its owner may write to it.
    /// - Parameters:
    ///   - owner: nil for the user of this process.
    ///   - closings: closes the descriptors that come with datagrams.
    public init(at path: String, owner: Account?, closings: ForeignClosings) throws(SystemError) {
        let socket = SharedSocket(try UnixSocket.bindDatagrams(at: path))
        do {
            let number = socket.descriptor.raw
            _ = try attemptC { clinux_pass_credentials(number) }.get("ask for the senders to", path)
            if let owner { try File.setOwner(of: path, to: owner) }
        } catch {
            unlink(path)
            throw error
        }
        self.path = path
        self.socket = socket
        self.closings = closings
    }

    /// Closing a socket also closes the descriptors in its queue, so the queue is emptied first.
    deinit {
        unlink(path)
        let number = raw
        _ = attemptC { clinux_refuse_datagrams(number) }
        while let next = try? peek(limit: 0) {
            guard next.carriesDescriptors else {
                socket.dropNext()
                continue
            }
            closings.close { [socket] in while socket.dropNext() {} }
            return
        }
    }

    /// The next datagram, at most `limit` bytes of it; it stays until it is dropped. Nil when none waits.
    public func peek(limit: Int) throws(SystemError) -> Datagram? {
        var bytes = [UInt8](repeating: 0, count: limit)
        var header = clinux_datagram()
        let number = raw
        let answer = bytes.withUnsafeMutableBytes { space in
            attemptC { clinux_peek_datagram(number, space.baseAddress, space.count, &header) }
        }
        if case .failure(.wouldBlock) = answer { return nil }
        let count = try answer.get("receive at", path)
        bytes.removeLast(bytes.count - count)
        return Datagram(
            bytes: bytes, isTruncated: header.truncated, carriesDescriptors: header.carries_descriptors,
            sender: PeerCredentials(pid: header.pid, user: header.user, group: header.group))
    }

    /// Drops the next datagram, which must not carry descriptors.
    public func drop() { socket.dropNext() }

    /// Drops the next datagram on its own thread; the result means that its descriptors are closed.
    public func dropOnThread() throws(SystemError) -> BackgroundJob<Void> {
        try closings.begin { [socket] in socket.dropNext() }
    }
}
