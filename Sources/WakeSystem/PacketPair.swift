// Two sockets that are connected to each other and keep the boundaries of what is sent.
import Glibc

public enum PacketPair {
    /// Both are close-on-exec, and the near one is non-blocking; the caller owns both numbers.
    public static func make() throws(SystemError) -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        _ = try attempt { Int(socketpair(AF_UNIX, kind, 0, &ends)) }.get("make", "a pair of sockets")
        let near = FileDescriptor(owning: ends[0])
        let far = FileDescriptor(owning: ends[1])
        try near.setNonblocking()
        return (near.release(), far.release())
    }
}
