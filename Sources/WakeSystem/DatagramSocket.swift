// A Unix datagram socket that one user may write to, each datagram with the kernel's word on who sent it.
import CLinux
import Glibc

public struct Datagram: Sendable {
    public var bytes: [UInt8]
    /// Longer than what was asked for; the rest is gone.
    public var isTruncated: Bool
    public var sender: PeerCredentials
}

/// Owns the socket and its name, which goes with it. Descriptors that come along with datagrams are closed as they come:
/// nothing here has a use for them, and for a barrier the closing is the answer.
public final class DatagramSocket {
    public let path: String
    private let socket: FileDescriptor
    public var raw: Int32 { socket.raw }

    /// Binds a fresh name; nobody but its owner may write to it.
    /// - Parameter owner: nil for the user we are.
    public init(at path: String, owner: Account?) throws(SystemError) {
        let socket = try UnixSocket.bindDatagrams(at: path)
        do {
            let number = socket.raw
            _ = try attemptC { clinux_pass_credentials(number) }.get("ask who sends to", path)
            if let owner { try File.setOwner(of: path, to: owner) }
        } catch {
            unlink(path)
            throw error
        }
        self.path = path
        self.socket = socket
    }

    deinit { unlink(path) }

    /// The next datagram that waits, at most `limit` bytes of it; nil when none does.
    public func receive(limit: Int) throws(SystemError) -> Datagram? {
        var bytes = [UInt8](repeating: 0, count: limit)
        var header = clinux_datagram()
        let number = socket.raw
        let answer = bytes.withUnsafeMutableBytes { space in
            attemptC { clinux_receive_datagram(number, space.baseAddress, space.count, &header) }
        }
        if case .failure(.wouldBlock) = answer { return nil }
        let count = try answer.get("receive at", path)
        bytes.removeLast(bytes.count - count)
        return Datagram(
            bytes: bytes, isTruncated: header.truncated,
            sender: PeerCredentials(pid: header.pid, user: header.user, group: header.group))
    }
}
