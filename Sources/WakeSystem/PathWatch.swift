// Watches the whole way to a few paths, of which any part may be missing, change its mode, come or go (inotify).
import Glibc

/// Readable when something on the way to one of the paths, or beside it, has changed. It does not say what: look again.
public struct PathWatch: ~Copyable {
    private let descriptor: FileDescriptor
    private let mask: UInt32
    /// The kernel's watch numbers.
    private var watched: Set<Int32>

    public var raw: Int32 { descriptor.raw }

    /// Watches nothing until ``renew(_:)``.
    /// - Parameter seesWrites: whether a file that was written counts, and not only one that appeared or changed its mode.
    public init(seesWrites: Bool) throws(SystemError) {
        let opened = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard opened >= 0 else { throw SystemError("make", "an inotify descriptor", Errno.last) }
        let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB
        let all = names | IN_DELETE_SELF | IN_MOVE_SELF
        // Nothing is set before all that may throw: Swift 6.0 would end what is not there.
        descriptor = FileDescriptor(owning: opened)
        mask = UInt32(seesWrites ? all | IN_CLOSE_WRITE : all)
        watched = []
    }

    /// Drops the reports so far, and watches what is there now of each path and of the folders above it. Call it before you
    /// look: what comes in between is reported.
    public mutating func renew(_ paths: [String]) throws(SystemError) {
        try drain()
        var found: Set<Int32> = []
        for place in Set(paths.flatMap(Self.way)) {
            let number = inotify_add_watch(raw, place, mask)
            guard number < 0 else {
                found.insert(number)
                continue
            }
            // What is missing or closed to us is seen by the folder above it.
            let failure = Errno.last
            if failure == .noSpace { throw SystemError("watch", place, failure, advice: Self.advice) }
        }
        for number in watched.subtracting(found) { inotify_rm_watch(raw, number) }
        watched = found
    }

    private static let advice = "raise fs.inotify.max_user_watches with sysctl"

    private borrowing func drain() throws(SystemError) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while case .bytes = try descriptor.read(into: &bytes) {}
    }

    /// The path and every folder above it.
    private static func way(to path: String) -> [String] {
        var way = [path]
        while let last = way.last, last != "/", last != "." { way.append(File.parent(of: last)) }
        return way
    }
}
