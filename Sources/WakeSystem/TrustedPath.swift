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
