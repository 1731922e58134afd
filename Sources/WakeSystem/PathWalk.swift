// Follows a path one name at a time with the rights of the calling thread, and opens nothing on the way.
import CLinux
import Glibc

/// Links are followed only by their text. So no link in /proc leads to a folder that this process has open and the
/// thread itself could not reach.
enum PathWalk {
    /// Twice the names that a condition's path may have, to leave as many for links.
    private static let mostNames = 64

    /// - Parameter visit: gets marks of the root, of each folder on the way, and of the end.
    /// - Returns: a mark of the end.
    static func follow(
        _ path: String, visit: (borrowing FileDescriptor) -> Void
    ) throws(SystemError) -> FileDescriptor {
        var rest = names(of: path)
        var place = try root(for: path)
        visit(place)
        var count = 0
        while let name = rest.popLast() {
            count += 1
            guard count <= mostNames else { throw SystemError("follow", path, Errno(code: ELOOP)) }
            let next = try mark(name, in: place, isLast: rest.isEmpty, of: path)
            guard let target = try linkTarget(of: next, path) else {
                visit(next)
                place = next
                continue
            }
            rest += names(of: target)
            if target.hasPrefix("/") { place = try root(for: path) }
        }
        return place
    }

    /// In reverse order, so that `popLast()` takes the first name.
    private static func names(of path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }

    private static func root(for path: String) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(Glibc.open("/", clinux_o_path | O_DIRECTORY | O_CLOEXEC)) }
        return FileDescriptor(owning: Int32(try answer.get("follow", path)))
    }

    private static func mark(
        _ name: String, in place: borrowing FileDescriptor, isLast: Bool, of path: String
    ) throws(SystemError) -> FileDescriptor {
        let (base, flags) = (place.raw, clinux_o_path | O_NOFOLLOW | O_CLOEXEC)
        // Only an open with O_DIRECTORY mounts a file system that is mounted on entry.
        if !isLast, case .value(let raw) = attempt({ Int(openat(base, name, flags | O_DIRECTORY)) }) {
            return FileDescriptor(owning: Int32(raw))
        }
        return FileDescriptor(owning: Int32(try attempt { Int(openat(base, name, flags)) }.get("follow", path)))
    }

    /// Nil where the mark is no link.
    private static func linkTarget(of mark: borrowing FileDescriptor, _ path: String) throws(SystemError) -> String? {
        var status = stat()
        guard fstat(mark.raw, &status) == 0 else { throw SystemError("follow", path, .last) }
        guard status.st_mode & S_IFMT == S_IFLNK else { return nil }
        let number = mark.raw
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try attempt { readlinkat(number, "", &bytes, bytes.count) }.get("follow", path)
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
