// Directories that no other user can change: those that configuration lies in, and those that are written to.
import Glibc

public enum TrustedDirectory {
    /// As ``Directory/names(in:startingWith:)``, of a directory that none but trusted users can change.
    public static func names(in path: String) throws(SystemError) -> [String] {
        let place = try directory(path, "list")
        try place.require(place.status)
        return try Directory.names(in: place.path)
    }

    /// Throws where another user could change `path`, or what stands above it where that is still to be made.
    public static func require(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            let place = try directory(path, "use")
            try place.require(place.status)
        } catch {
            guard error.errno == .noEntry else { throw error }
        }
    }

    /// Whether it is this user's own directory, and no other may write to it: what XDG_RUNTIME_DIR must be. `su` and `sudo -E`
    /// leave the one of another user in the environment.
    public static func isOwn(_ path: String) -> Bool {
        guard let place = safe(path) else { return false }
        return place.status.st_uid == geteuid() && place.status.st_mode & 0o022 == 0
    }

    /// Whether what this user makes in it stays this user's: it is this user's or root's, and sticky where others may write.
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
