// A Unix datagram socket that one user may write to, each datagram with the kernel's word on who sent it.
import CLinux
import Glibc

public struct Datagram: Sendable {
    public var bytes: [UInt8]
    /// Longer than what was asked for; the rest is lost when it is dropped.
    public var isTruncated: Bool
    /// Descriptors came with it. What stands behind them decides how long it takes to drop it.
    public var carriesDescriptors: Bool
    public var sender: PeerCredentials
}

/// Owns the socket and its name, which goes with it. Nothing here opens the descriptors that come with datagrams: dropping a
/// datagram closes them, and for a barrier of sd_notify that closing is the answer.
public final class DatagramSocket {
    public let path: String
    private let socket: SharedSocket
    private let closings: ForeignClosings
    public var raw: Int32 { socket.descriptor.raw }

    /// The descriptor, alive as long as the socket or a thread that drops one of its datagrams.
    private final class SharedSocket: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

        /// False where nothing was left to drop.
        @discardableResult
        func dropNext() -> Bool {
            let number = descriptor.raw
            return if case .value = attemptC({ clinux_drop_datagram(number) }) { true } else { false }
        }
    }

    /// Binds a fresh name; its owner alone may write to it.
    /// - Parameters:
    ///   - owner: nil for the user we are.
    ///   - closings: where descriptors that come with datagrams are closed.
    public init(at path: String, owner: Account?, closings: ForeignClosings) throws(SystemError) {
        let socket = SharedSocket(try UnixSocket.bindDatagrams(at: path))
        do {
            let number = socket.descriptor.raw
            _ = try attemptC { clinux_pass_credentials(number) }.get("ask who sends to", path)
            if let owner { try File.setOwner(of: path, to: owner) }
        } catch {
            unlink(path)
            throw error
        }
        self.path = path
        self.socket = socket
        self.closings = closings
    }

    /// A socket that is closed with descriptors in its queue closes them too, so the queue is emptied first.
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

    /// The datagram that comes next, at most `limit` bytes of it, which stays until it is dropped; nil when none waits.
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

    /// Drops the next datagram, which must carry no descriptors.
    public func drop() { socket.dropNext() }

    /// Drops the next datagram on a thread of its own, and answers when what it carried is closed.
    public func dropOnThread() throws(SystemError) -> Errand<Void> {
        try closings.begin { [socket] in socket.dropNext() }
    }
}
