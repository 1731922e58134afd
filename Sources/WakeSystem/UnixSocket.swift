// Unix sockets for clients of the daemon: made where no daemon answers yet; the kernel identifies each client.
import CLinux
import Glibc

/// The user at the other end of a Unix socket, at the time it connected.
public struct PeerCredentials: Hashable, Sendable {
    public let pid: Int32
    public let user: UInt32
    public let group: UInt32

    /// - Parameter raw: a connected Unix socket.
    public init(of raw: Int32) throws(SystemError) {
        var pid: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        let answer = attemptC { clinux_peer_credentials(raw, &pid, &user, &group) }
        _ = try answer.get("identify the client of", "socket \(raw)")
        (self.pid, self.user, self.group) = (pid, user, group)
    }

    init(pid: Int32, user: UInt32, group: UInt32) { (self.pid, self.user, self.group) = (pid, user, group) }

    /// Whether the peer's user is in the group, by its own group or by the group database.
    public func isMember(of other: UInt32) -> Bool {
        if group == other { return true }
        guard let account = try? Account(user: user) else { return false }
        return (try? Account.groups(of: account.name, primary: account.group).contains(other)) ?? false
    }
}

public enum UnixSocket {
    /// Listens at `path`. An existing socket is replaced only if no process answers on it. Sweep the cgroup tree before: a
    /// child of an earlier daemon that was never thawed still holds the old socket, and would seem to answer.
    /// - Parameters:
    ///   - mode: 0o600 for the owner alone, 0o660 with a group.
    ///   - group: the group that may connect too; nil keeps the process's own.
    public static func listen(at path: String, mode: UInt32 = 0o600, group: UInt32? = nil)
        throws(SystemError) -> FileDescriptor
    {
        try removeStale(path)
        let socket = try bind(path, SOCK_STREAM)
        do throws(SystemError) {
            if let group { try give(path, to: group) }
            // A link may be in its place by now: others may write to the folder.
            _ = try attempt { Int(fchmodat(AT_FDCWD, path, mode_t(mode), AT_SYMLINK_NOFOLLOW)) }
                .get("set the mode of", path)
            _ = try attempt { Int(Glibc.listen(socket.raw, 64)) }.get("listen at", path)
        } catch {
            unlink(path)
            throw error
        }
        return socket
    }

    private static func give(_ path: String, to group: UInt32) throws(SystemError) {
        guard case .failure(let errno) = attempt({ Int(chown(path, uid_t.max, group)) }) else { return }
        let advice = errno == .notPermitted ? "make this process's user a member of that group, or be root" : nil
        throw SystemError("give to group \(group)", path, errno, advice: advice)
    }

    /// A bound socket, for its owner only: it must not be open to others before it has its mode.
    private static func bind(_ path: String, _ type: __socket_type) throws(SystemError) -> FileDescriptor {
        let socket = try make(path, type)
        let mask = umask(0o177)
        let bound = withAddress(path) { address, length in attempt { Int(Glibc.bind(socket.raw, address, length)) } }
        umask(mask)
        _ = try bound.get("bind", path)
        return socket
    }

    /// A socket for datagrams at an unused name, for its owner only.
    static func bindDatagrams(at path: String) throws(SystemError) -> FileDescriptor { try bind(path, SOCK_DGRAM) }

    /// The owner of the socket at `path`, and the group that may connect by its mode; nil where it cannot be seen.
    public static func audience(of path: String) -> (user: UInt32, group: UInt32?)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (status.st_uid, status.st_mode & 0o020 != 0 ? status.st_gid : nil)
    }

    /// Connects, non-blocking from then on.
    public static func connect(to path: String) throws(SystemError) -> FileDescriptor {
        let socket = try make(path)
        let answer = withAddress(path) { address, length in attempt { Int(Glibc.connect(socket.raw, address, length)) }
        }
        _ = try answer.get("connect to", path)
        return socket
    }

    /// The next waiting connection, non-blocking and close-on-exec; nil when none waits, or it has closed again.
    public static func accept(on listener: borrowing FileDescriptor) throws(SystemError) -> FileDescriptor? {
        let number = listener.raw
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        switch attemptC({ clinux_accept(number, flags) }) {
        case .value(let raw): return FileDescriptor(owning: Int32(raw))
        case .failure(.wouldBlock), .failure(Errno(code: ECONNABORTED)): return nil
        case .failure(let errno): throw SystemError("accept on", "socket \(number)", errno)
        }
    }

    /// If the kernel can refuse it, nobody can pass descriptors to a stream: closing one can take as long as its sender
    /// likes. Descriptors that come with datagrams are closed with care.
    private static func make(_ path: String, _ type: __socket_type = SOCK_STREAM) throws(SystemError) -> FileDescriptor
    {
        guard path.utf8.count <= longestPath else { throw SystemError("use as a socket", path, .nameTooLong) }
        let kind = Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let made = FileDescriptor(
            owning: Int32(try attempt { Int(socket(AF_UNIX, kind, 0)) }.get("make a socket for", path)))
        let number = made.raw
        if type == SOCK_STREAM {
            _ = try attemptC { clinux_refuse_descriptors(number) }.get("refuse descriptors at", path)
        }
        return made
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError("listen at", path, .exists, advice: "it is no socket; move it away")
        }
        // A socket of another kind is not connected: the kernel only answers that a process holds the socket.
        let probe = try make(path, SOCK_DGRAM)
        let answer = withAddress(path) { address, length in attempt { Int(Glibc.connect(probe.raw, address, length)) } }
        guard case .failure(.connectionRefused) = answer else {
            throw SystemError("listen at", path, Errno(code: EADDRINUSE), advice: "another daemon answers there")
        }
        try File.remove(path)
    }

    /// The longest path in sun_path, without its closing zero.
    private static let longestPath = 107

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Answer) -> Answer {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(longestPath)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
