// Directories that no other user can change: those with configuration, and those that are written to.
import Glibc

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
