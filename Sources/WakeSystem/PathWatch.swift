// Watches the whole way to many paths by inotify. Any part of a path may be missing, change its mode, appear or
// disappear.
import Glibc

/// Turns readable when something on the way to one of the paths, or beside it, has changed. All paths share one inotify
/// instance, since a user may have only a few.
public final class PathWatch: Sendable {
    /// The result of a look at a path.
    public struct Finding: Sendable {
        public let path: String
        /// Whether the thread that looked could read it.
        public let isReadable: Bool
        /// The version of the file; nil where the thread found none.
        public let version: Version?
        /// The kernel's numbers of the watches for this path now.
        public let watches: Set<Int32>
        /// Why a part of the path is not watched although it could be.
        public let fault: SystemError?
    }

    /// Contains the inode too, since two versions that were copied together may have the same time.
    public struct Version: Hashable, Sendable {
        private let number: UInt64
        private let seconds: Int
        private let nanoseconds: Int

        /// - Parameter mark: refers to the file, which need not be open.
        init?(of mark: borrowing FileDescriptor) {
            var status = stat()
            guard fstat(mark.raw, &status) == 0 else { return nil }
            (number, seconds, nanoseconds) = (UInt64(status.st_ino), status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }
    }

    /// The watches with reports.
    public enum Reports: Hashable, Sendable {
        case of(Set<Int32>)
        /// Too many to count; every watch may have reports.
        case many
    }

    private let descriptor: FileDescriptor
    private let mask: UInt32

    public var raw: Int32 { descriptor.raw }

    /// Watches nothing until ``look(at:)``.
    /// - Parameter seesWrites: whether a write to a file counts, beside its appearance and changes of its mode.
    public init(seesWrites: Bool) throws(SystemError) {
        let opened = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard opened >= 0 else { throw SystemError("make", "an inotify descriptor", Errno.last) }
        let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB
        let all = names | IN_DELETE_SELF | IN_MOVE_SELF
        // No member is set before all that may throw: Swift 6.0 would destroy members that are not there.
        descriptor = FileDescriptor(owning: opened)
        mask = UInt32(seesWrites ? all | IN_CLOSE_WRITE : all)
    }

    /// Watches the existing part of the path and of links on it, and then looks, so that changes in between are
    /// reported. It may take long. Folders that this thread may not list are not watched.
    public func look(at path: String) -> Finding {
        var watches: Set<Int32> = []
        var (isReadable, version, fault): (Bool, Version?, SystemError?) = (false, nil, nil)
        do throws(SystemError) {
            let end = try PathWalk.follow(path) { mark in
                let number = inotify_add_watch(raw, mark.ownPath, mask)
                if number >= 0 { watches.insert(number) } else if Errno.last == .noSpace { fault = Self.lack(at: path) }
            }
            (isReadable, version) = (File.canBeRead(end), Version(of: end))
        } catch {
            // The watch on the folder above reports when the missing or closed part changes.
        }
        return Finding(path: path, isReadable: isReadable, version: version, watches: watches, fault: fault)
    }

    /// Looks at several paths on a thread, with the rights of the account.
    /// - Parameter account: nil for this process's own user.
    public func beginLook(
        at paths: [String], as account: Account?
    ) throws(SystemError) -> BackgroundJob<[Finding]> {
        try BackgroundJob(as: account) { [self] error in
            if let error {
                return paths.map { Finding(path: $0, isReadable: false, version: nil, watches: [], fault: error) }
            }
            return paths.map { look(at: $0) }
        }
    }

    /// Removes the watches on a thread, before the job is done.
    public func beginRemoval(of watches: Set<Int32>) throws(SystemError) -> BackgroundJob<Void> {
        try BackgroundJob { [self] in remove(watches) }
    }

    /// Removes the watches. It may take long, because the kernel may then free files that a user has deleted.
    public func remove(_ watches: Set<Int32>) { for number in watches { inotify_rm_watch(raw, number) } }

    /// Reads and drops all reports so far.
    public func removeReports() throws(SystemError) -> Reports {
        var numbers: Set<Int32> = []
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        // A user who changes a folder all the time must not keep the reader here.
        for _ in 0..<16 {
            guard case .bytes(let count) = try descriptor.read(into: &bytes) else {
                // The kernel reports -1 where it dropped reports.
                return numbers.contains(-1) ? .many : .of(numbers)
            }
            Self.add(bytes[..<count], to: &numbers)
        }
        return .many
    }

    private static func lack(at path: String) -> SystemError {
        SystemError(
            "watch", path, .noSpace, advice: "its changes are seen late until you raise fs.inotify.max_user_watches")
    }

    /// The layout of inotify(7): watch, mask, cookie and the length of the name that follows, four bytes each.
    private static func add(_ events: ArraySlice<UInt8>, to numbers: inout Set<Int32>) {
        var rest = events
        while rest.count >= 16 {
            numbers.insert(Int32(truncatingIfNeeded: rest.littleEndian(at: 0, size: 4)))
            rest = rest.dropFirst(16 + Int(rest.littleEndian(at: 12, size: 4)))
        }
    }
}
