// Directories that live as long as one command, and the few questions about paths that go with them.
import CLinux
import Glibc

extension Directory {
    /// Makes a directory of our own, in memory where that can be had: no disk then delays who writes there.
    public static func makeTemporary(prefix: String) throws(SystemError) -> String {
        for place in temporaryPlaces where access(place, W_OK) == 0 {
            var template = Array("\(place)/\(prefix)-XXXXXX".utf8CString)
            let made = template.withUnsafeMutableBufferPointer { space in
                space.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
            }
            if let made { return made }
        }
        throw SystemError("make a temporary directory for", prefix, Errno.last)
    }

    /// The best first. What the environment names counts only where another user could not put something else in the place
    /// of what is made there.
    private static var temporaryPlaces: [String] {
        let own = Environment.value(of: "XDG_RUNTIME_DIR").flatMap { TrustedDirectory.isOwn($0) ? $0 : nil }
        let said = Environment.value(of: "TMPDIR").flatMap { TrustedDirectory.isSafe($0) ? $0 : nil }
        return [own, "/run", "/dev/shm"].compactMap { $0 }.filter { isInMemory($0) } + [said, "/tmp"].compactMap { $0 }
    }

    /// Takes the dot off the front of the directory's name; returns its new path.
    public static func uncover(_ path: String) throws(SystemError) -> String {
        let uncovered = "\(File.parent(of: path))/\(path.split(separator: "/").last?.drop { $0 == "." } ?? "")"
        _ = try attempt { Int(rename(path, uncovered)) }.get("rename", path)
        return uncovered
    }

    /// The directories of that prefix that this user's processes made, wherever they could have made them. What another
    /// user put there is not ours, and may be a trap.
    public static func temporaries(prefix: String) -> [String] {
        Set(temporaryPlaces).sorted().flatMap { place in
            let names = (try? names(in: place, startingWith: prefix + "-")) ?? []
            return names.map { "\(place)/\($0)" }.filter(isOurs)
        }
    }

    private static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Throws where another user has made what is there: it would be up to him what lies in it. What is not there is nobody's.
    public static func refuse(
        _ path: String, unlessOf user: UInt32 = geteuid(), advice: String
    ) throws(SystemError) {
        guard let other = File.owner(of: path), other != user else { return }
        let owner = (try? Account(user: other))?.name ?? "user \(other)"
        throw SystemError("use", path, .notPermitted, advice: "it belongs to \(owner); \(advice)")
    }

    /// Lets every user pass through the directory to what is theirs below it; what is in it stays hidden from them.
    public static func letThrough(_ path: String) throws(SystemError) {
        var status = stat()
        _ = try attempt { Int(stat(path, &status)) }.get("look at", path)
        let mode = status.st_mode & 0o7777 | 0o011
        guard mode != status.st_mode & 0o7777 else { return }
        _ = try attempt { Int(chmod(path, mode)) }.get("let handlers pass through", path)
    }

    /// Removes a directory with everything in it, and follows no symbolic link. What cannot be removed stays.
    public static func removeTree(_ path: String) { removeTree(path, in: AT_FDCWD) }

    /// By descriptors: whoever owns a directory in the tree could put a link in its place between two looks at its path.
    private static func removeTree(_ name: String, in parent: Int32) {
        let directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        defer { unlinkat(parent, name, AT_REMOVEDIR) }
        // One that may not be read may be empty.
        guard directory >= 0 else { return }
        guard let stream = fdopendir(directory) else {
            close(directory)
            return
        }
        defer { closedir(stream) }
        for entry in names(from: stream) where unlinkat(directory, entry, 0) != 0 {
            let isDirectory = Errno.last == Errno(code: EISDIR) || Errno.last == .notPermitted
            if isDirectory { removeTree(entry, in: directory) }
        }
    }

    private static func isInMemory(_ path: String) -> Bool { clinux_is_in_memory(path) == 1 }
}

extension File {
    public static func linkTarget(of path: String) throws(SystemError) -> String {
        var space = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = space.withUnsafeMutableBytes { space in
            space.baseAddress.map { readlink(path, $0, space.count) } ?? -1
        }
        guard length >= 0 else { throw SystemError("read the link", path, Errno.last) }
        return String(decoding: space[..<length], as: UTF8.self)
    }

    /// The number of the user whose it is; nil where there is none, or it cannot be seen.
    public static func owner(of path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Gives a file or directory to another user.
    public static func setOwner(of path: String, to account: Account) throws(SystemError) {
        guard lchown(path, account.user, account.group) == 0 else {
            throw SystemError("give to \(account.name)", path, Errno.last)
        }
    }
}
