// A folder watched for files that come, change and go (inotify).
import Glibc

/// Readable when something happened; which file it was does not matter to those who read the whole folder anew.
public struct DirectoryWatch: ~Copyable {
    private let descriptor: FileDescriptor
    private let path: String
    private let mask: UInt32
    /// The kernel's number for the folder that stands at the path now.
    private var folder: Int32

    public var raw: Int32 { descriptor.raw }

    /// Watches `path`, which must exist, for files that are written, moved or removed.
    /// - Parameter seesNew: true to hear of a name as soon as it is there, before anything is written: of sockets,
    ///   which nobody writes to, there is no other word.
    public init(_ path: String, seesNew: Bool = false) throws(SystemError) {
        let raw = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard raw >= 0 else { throw SystemError("watch", path, Errno.last) }
        let opened = FileDescriptor(owning: raw)
        let ofFiles = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB
        let known = ofFiles | IN_DELETE_SELF | IN_MOVE_SELF
        let mask = UInt32(seesNew ? known | IN_CREATE : known)
        let folder = inotify_add_watch(raw, path, mask)
        guard folder >= 0 else { throw SystemError("watch", path, Errno.last) }
        (self.path, self.mask, self.folder) = (path, mask, folder)
        descriptor = opened
    }

    /// Watches the folder that stands at the path now, where another does.
    /// - Returns: whether another did.
    public mutating func renew() -> Bool {
        let found = inotify_add_watch(raw, path, mask)
        guard found >= 0, found != folder else { return false }
        inotify_rm_watch(raw, folder)
        folder = found
        return true
    }

    /// Forgets what was reported, so that only what happens next is readable.
    /// - Returns: whether something was more than begun: a file that was only made is written next.
    @discardableResult
    public borrowing func drain() throws(SystemError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var isMore = false
        while case .bytes(let count) = try descriptor.read(into: &bytes) {
            isMore = isMore || Self.hasMore(than: UInt32(IN_CREATE | IN_ISDIR), bytes[..<count])
        }
        return isMore
    }

    /// inotify(7): watch, mask, cookie and the length of the name behind them, of four bytes each.
    private static func hasMore(than begun: UInt32, _ events: ArraySlice<UInt8>) -> Bool {
        var rest = events
        while rest.count >= 16 {
            if UInt32(rest.littleEndian(at: 4, size: 4)) & ~begun != 0 { return true }
            rest = rest.dropFirst(16 + Int(rest.littleEndian(at: 12, size: 4)))
        }
        return false
    }
}
