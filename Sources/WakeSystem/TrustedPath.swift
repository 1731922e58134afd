// Follows a path one component at a time, and refuses components that another user could change.
import CLinux
import Glibc
import WakeModel

/// The file at a path, reached only through directories and links of trusted users. Opens nothing on the way.
struct TrustedPath {
    /// The path from the root, without links and dots.
    private(set) var path = "/"
    private(set) var status = stat()
    /// The path as given, and why it was followed; for errors.
    private let attempted: String
    private let subject: String
    private let users: Set<UInt32>
    /// The components still to follow, the next one last.
    private var rest: [Substring] = []
    private var linksLeft = 40

    /// Root, this user, and the owner of this program, which can change what runs anyway.
    static var trustedUsers: Set<UInt32> {
        var program = stat()
        let users: Set<UInt32> = [0, geteuid()]
        return stat("/proc/self/exe", &program) == 0 ? users.union([program.st_uid]) : users
    }

    /// Follows `path` to its end; ``require(_:)`` checks the owner and mode of the end itself.
    init(
        to path: String, _ attempted: String, trusting users: Set<UInt32> = TrustedPath.trustedUsers
    ) throws(SystemError) {
        (self.attempted, subject, self.users) = (attempted, path, users)
        push(try File.absolute(path))
        status = try look(at: self.path)
        while let name = rest.popLast() { try follow(name) }
    }

    /// Follows `path` from a directory that was followed before: those above it are not looked at again.
    init(to path: String, _ attempted: String, below place: TrustedPath) throws(SystemError) {
        (self.attempted, subject, users) = (attempted, "\(place.path)/\(path)", place.users)
        (self.path, status) = (place.path, place.status)
        push(path)
        while let name = rest.popLast() { try follow(name) }
    }

    var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// Throws where a user who is not trusted could change the file at the end.
    /// - Parameter found: the status of the opened file, which decides.
    func require(_ found: stat) throws(SystemError) {
        guard users.contains(found.st_uid) else { throw refusal(itself(path), ownedBy: found.st_uid, "chown") }
        // In a sticky directory users cannot replace files of others; the file's owner is checked next.
        let isSticky = found.st_mode & S_IFMT == S_IFDIR && found.st_mode & S_ISVTX != 0
        guard found.st_mode & 0o022 != 0, !isSticky else { return }
        if found.st_mode & 0o002 != 0 { throw refusal("every user", mayWriteWith: "chmod o-w") }
        if clinux_has_access_list(path) { throw refusal("an access control list", mayWriteWith: "setfacl -b") }
        guard !clinux_is_private_group(found.st_gid, found.st_uid) else { return }
        throw refusal("group \(found.st_gid)", mayWriteWith: "chmod g-w")
    }

    func error(_ errno: Errno, _ advice: String? = nil) -> SystemError {
        SystemError(attempted, subject, errno, advice: advice)
    }

    // MARK: Following

    private mutating func push(_ path: String) { rest += path.split(separator: "/").reversed() }

    private mutating func follow(_ name: Substring) throws(SystemError) {
        guard isDirectory else { throw error(Errno(code: ENOTDIR)) }
        try require(status)
        switch name {
        case ".": return
        case "..": try enter(File.parent(of: path))
        default:
            let next = path == "/" ? "/\(name)" : "\(path)/\(name)"
            let found = try look(at: next)
            if found.st_mode & S_IFMT == S_IFLNK {
                try follow(linkAt: next, found)
            } else {
                (path, status) = (next, found)
            }
        }
    }

    private mutating func follow(linkAt link: String, _ found: stat) throws(SystemError) {
        guard users.contains(found.st_uid) else {
            throw refusal("the link \(link)", ownedBy: found.st_uid, "chown -h", of: link)
        }
        guard linksLeft > 0 else { throw error(Errno(code: ELOOP)) }
        linksLeft -= 1
        let target = try File.linkTarget(of: link)
        push(target)
        if target.hasPrefix("/") { try enter("/") }
    }

    private mutating func enter(_ directory: String) throws(SystemError) {
        (path, status) = (directory, try look(at: directory))
    }

    private func look(at path: String) throws(SystemError) -> stat {
        var found = stat()
        guard lstat(path, &found) == 0 else { throw error(.last) }
        return found
    }

    // MARK: Refusing

    /// The subject of the sentence, where the path comes before it already.
    private func itself(_ path: String) -> String { path == subject ? "it" : path }

    private func refusal(
        _ what: String, ownedBy user: UInt32, _ command: String, of place: String? = nil
    ) -> SystemError {
        let owner = (try? Account(user: user))?.name ?? "user \(user)"
        let heir = (try? Account.current())?.name ?? "root"
        let order = "\(command) \(heir) \((place ?? path).asShellWord)"
        return error(.notPermitted, "\(what) belongs to \(owner); run '\(order)', or use another place")
    }

    private func refusal(_ others: String, mayWriteWith command: String) -> SystemError {
        let advice = "\(others) may write to \(itself(path)); run '\(command) \(path.asShellWord)'"
        return error(.notPermitted, advice)
    }
}

/// Directories that no other user can change: those with configuration, and those that are written to.
public enum TrustedDirectory {
    /// As ``Directory/names(in:startingWith:)``, for a directory that only trusted users can change.
    public static func names(in path: String) throws(SystemError) -> [String] {
        let place = try directory(path, "list")
        try place.require(place.status)
        return try Directory.names(in: place.path)
    }

    /// Throws where another user could change `path` or, where it does not exist yet, the directories above it.
    public static func require(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            let place = try directory(path, "use")
            try place.require(place.status)
        } catch {
            guard error.errno == .noEntry else { throw error }
        }
    }

    /// Whether this user owns the directory and no other may write to it, as XDG_RUNTIME_DIR must be. `su` and `sudo -E` leave
    /// another user's directory in the environment.
    public static func isOwn(_ path: String) -> Bool {
        guard let place = safe(path) else { return false }
        return place.status.st_uid == geteuid() && place.status.st_mode & 0o022 == 0
    }

    /// Whether files of this user in it are safe: it is this user's or root's, and sticky where others may write.
    static func isSafe(_ path: String) -> Bool {
        guard let place = safe(path) else { return false }
        return place.status.st_uid == geteuid() || place.status.st_uid == 0
    }

    private static func safe(_ path: String) -> TrustedPath? {
        guard path.hasPrefix("/"), let place = try? directory(path, "use") else { return nil }
        return (try? place.require(place.status)).map { place }
    }

    private static func directory(_ path: String, _ attempted: String) throws(SystemError) -> TrustedPath {
        let place = try TrustedPath(to: path, attempted)
        guard place.isDirectory else { throw place.error(Errno(code: ENOTDIR)) }
        return place
    }
}

/// A directory that no other user could change when this was made. Its files are read without another look at all above it, which
/// counts where there are hundreds.
public struct TrustedFolder: Sendable {
    private let place: TrustedPath

    public init(_ path: String) throws(SystemError) {
        place = try TrustedPath(to: path, "list")
        guard place.isDirectory else { throw place.error(Errno(code: ENOTDIR)) }
        try place.require(place.status)
    }

    public func names() throws(SystemError) -> [String] { try Directory.names(in: place.path) }

    /// As ``TrustedFile/bytes(at:limit:trustingAlso:)``, of a path that begins in this directory.
    public func bytes(at path: String, limit: Int) throws(SystemError) -> [UInt8] {
        try TrustedFile.bytes(
            at: try TrustedPath(to: path, "read", below: place), named: "\(place.path)/\(path)", limit: limit)
    }
}

/// Files whose text decides what runs: read only where only trusted users could have written them.
public enum TrustedFile {
    /// The whole file, at most `limit` bytes. Opens only a plain file: opening a FIFO waits for its writer, and opening some
    /// devices affects them.
    /// - Parameter user: a user whose files are trusted too, beside root, this user and the program's owner.
    public static func bytes(
        at path: String, limit: Int, trustingAlso user: UInt32? = nil
    ) throws(SystemError) -> [UInt8] {
        let users = user.map { TrustedPath.trustedUsers.union([$0]) } ?? TrustedPath.trustedUsers
        return try bytes(at: try TrustedPath(to: path, "read", trusting: users), named: path, limit: limit)
    }

    fileprivate static func bytes(at place: TrustedPath, named path: String, limit: Int) throws(SystemError) -> [UInt8]
    {
        // O_PATH opens nothing.
        let mark = try open(place.path, clinux_o_path | O_NOFOLLOW, for: place)
        var found = stat()
        guard fstat(mark.raw, &found) == 0 else { throw place.error(.last) }
        try requirePlainFile(found.st_mode, at: place)
        try place.require(found)
        let file = try open("/proc/self/fd/\(mark.raw)", O_RDONLY | O_NONBLOCK | O_NOCTTY, for: place)
        return try File.bytes(of: file, named: path, limit: limit)
    }

    private static func open(
        _ path: String, _ flags: Int32, for place: TrustedPath
    ) throws(SystemError) -> FileDescriptor {
        switch attempt({ Int(Glibc.open(path, flags | O_CLOEXEC)) }) {
        case .value(let raw): return FileDescriptor(owning: Int32(raw))
        case .failure(let errno): throw place.error(errno)
        }
    }

    private static func requirePlainFile(_ mode: mode_t, at place: TrustedPath) throws(SystemError) {
        switch mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw place.error(Errno(code: EISDIR))
        case S_IFIFO: throw place.error(.invalid, "it is a FIFO; put a plain file there")
        case S_IFSOCK: throw place.error(.invalid, "it is a socket; put a plain file there")
        default: throw place.error(.invalid, "it is a device; put a plain file there")
        }
    }
}
