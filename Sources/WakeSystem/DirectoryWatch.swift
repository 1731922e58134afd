// Watches a folder for files that appear, change and disappear (inotify).
import Glibc

/// Readable when something happened. It does not name the file: readers read the whole folder again.
public struct DirectoryWatch: ~Copyable {
    private let descriptor: FileDescriptor
    private let path: String
    private let mask: UInt32
    /// The kernel's watch number for the folder at the path.
    private var folder: Int32

    public var raw: Int32 { descriptor.raw }

    /// Watches `path`, which must exist, for files that are written, moved or removed.
    /// - Parameter seesNew: true to report a name as soon as it appears, before anything is written: for sockets, which are
    ///   never written to, there is no other report.
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

    /// Watches the folder that is at the path now, where that is another one.
    /// - Returns: whether it is another one.
    public mutating func renew() -> Bool {
        let found = inotify_add_watch(raw, path, mask)
        guard found >= 0, found != folder else { return false }
        inotify_rm_watch(raw, folder)
        folder = found
        return true
    }

    /// Drops the reports so far, so that only later ones make it readable.
    /// - Returns: whether a report was more than a beginning: a file that was only created is written next.
    @discardableResult
    public borrowing func drain() throws(SystemError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var isMore = false
        while case .bytes(let count) = try descriptor.read(into: &bytes) {
            isMore = isMore || Self.hasMore(than: UInt32(IN_CREATE | IN_ISDIR), bytes[..<count])
        }
        return isMore
    }

    /// The layout of inotify(7): watch, mask, cookie and the length of the name that follows, four bytes each.
    private static func hasMore(than begun: UInt32, _ events: ArraySlice<UInt8>) -> Bool {
        var rest = events
        while rest.count >= 16 {
            if UInt32(rest.littleEndian(at: 4, size: 4)) & ~begun != 0 { return true }
            rest = rest.dropFirst(16 + Int(rest.littleEndian(at: 12, size: 4)))
        }
        return false
    }
}
