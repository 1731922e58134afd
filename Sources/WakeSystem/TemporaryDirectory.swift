// Directories for the duration of one command, and a few questions about paths.
import CLinux
import Glibc

extension Directory {
    /// Makes a private directory, in memory where possible, so that no disk delays a write.
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

    /// The best first. A directory that the environment names counts only where no other user could replace what is made
    /// there.
    private static var temporaryPlaces: [String] {
        let own = Environment.value(of: "XDG_RUNTIME_DIR").flatMap { TrustedDirectory.isOwn($0) ? $0 : nil }
        let said = Environment.value(of: "TMPDIR").flatMap { TrustedDirectory.isSafe($0) ? $0 : nil }
        return [own, "/run", "/dev/shm"].compactMap { $0 }.filter { isInMemory($0) } + [said, "/tmp"].compactMap { $0 }
    }

    /// Removes the dot from the front of the directory's name; returns the new path.
    public static func uncover(_ path: String) throws(SystemError) -> String {
        let uncovered = "\(File.parent(of: path))/\(path.split(separator: "/").last?.drop { $0 == "." } ?? "")"
        _ = try attempt { Int(rename(path, uncovered)) }.get("rename", path)
        return uncovered
    }

    /// The directories with that prefix that this user's processes made, in all places where they could have made them.
    /// Directories of another user are left out; they may be a trap.
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

    /// Throws where another user owns the directory, because that user controls its contents. A missing directory is
    /// fine.
    public static func refuse(
        _ path: String, unlessOf user: UInt32 = geteuid(), advice: String
    ) throws(SystemError) {
        guard let other = File.owner(of: path), other != user else { return }
        let owner = (try? Account(user: other))?.name ?? "user \(other)"
        throw SystemError("use", path, .notPermitted, advice: "it belongs to \(owner); \(advice)")
    }

    /// Lets every user reach paths below the directory; its list of names stays hidden from them.
    public static func letThrough(_ path: String) throws(SystemError) {
        var status = stat()
        _ = try attempt { Int(stat(path, &status)) }.get("look at", path)
        let mode = status.st_mode & 0o7777 | 0o011
        guard mode != status.st_mode & 0o7777 else { return }
        _ = try attempt { Int(chmod(path, mode)) }.get("let handlers pass through", path)
    }

    /// Removes a directory with everything in it, without following symbolic links. Entries that cannot be removed
    /// stay.
    public static func removeTree(_ path: String) { removeTree(path, in: AT_FDCWD) }

    /// Uses descriptors: the owner of a directory in the tree could replace it by a link between two uses of its path.
    private static func removeTree(_ name: String, in parent: Int32) {
        let directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        defer { unlinkat(parent, name, AT_REMOVEDIR) }
        // A directory that may not be read may be empty.
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

    /// The owner's number; nil where the file is missing, or cannot be seen.
    public static func owner(of path: String) -> UInt32? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Changes the owner of a file or directory.
    public static func setOwner(of path: String, to account: Account) throws(SystemError) {
        guard lchown(path, account.user, account.group) == 0 else {
            throw SystemError("give to \(account.name)", path, Errno.last)
        }
    }
}
