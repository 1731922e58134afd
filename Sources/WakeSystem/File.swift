// Files and directories by path: read whole, replaced so that a crash leaves the old or the new, created for their owner only.
import Glibc
import WakeModel

/// How a file is opened; always close-on-exec.
public enum FileAccess: Sendable {
    case read
    case write
    case readWrite
    /// For reading and writing; created with mode 0600 where it is missing.
    case create
    case append
    /// For writing from the start, with mode 0600; the old content is removed.
    case replace

    fileprivate var flags: Int32 {
        switch self {
        case .read: O_RDONLY
        case .write: O_WRONLY
        case .readWrite: O_RDWR
        case .create: O_RDWR | O_CREAT
        case .append: O_WRONLY | O_CREAT | O_APPEND
        case .replace: O_WRONLY | O_CREAT | O_TRUNC
        }
    }
}

public enum File {
    public static func open(_ path: String, for access: FileAccess) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(Glibc.open(path, access.flags | O_CLOEXEC, mode_t(0o600))) }
        return FileDescriptor(owning: Int32(try answer.get("open", path)))
    }

    /// A new file with mode 0600, for writing, that replaces the one at `path`. Emptying the old file instead would leave it
    /// to its owner, and to every program that has it open. A link, a device or a directory is refused.
    public static func createSecret(_ path: String) throws(SystemError) -> FileDescriptor {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { try remove(path) }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        switch attempt({ Int(Glibc.open(path, flags, mode_t(0o600))) }) {
        case .value(let descriptor): return FileDescriptor(owning: Int32(descriptor))
        case .failure(.exists):
            throw SystemError("create", path, .exists, advice: "it is no plain file; name another one")
        case .failure(let errno): throw SystemError("create", path, errno)
        }
    }

    /// Opens a directory, as the base for names below it.
    public static func openDirectory(_ path: String) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
        return FileDescriptor(owning: Int32(try answer.get("open", path)))
    }

    /// Opens a name below an open directory, whatever happens to the path above it meanwhile.
    static func open(_ name: String, in directory: borrowing FileDescriptor, for access: FileAccess)
        throws(SystemError) -> FileDescriptor
    {
        let base = directory.raw
        let answer = attempt { Int(openat(base, name, access.flags | O_CLOEXEC, mode_t(0o600))) }
        return FileDescriptor(owning: Int32(try answer.get("open", name)))
    }

    /// Its inode number; nil where there is no file. The file system of /sys never reuses one.
    public static func number(of path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Whether both paths lead to one file or directory; also if neither exists and both are the same text.
    public static func isSame(_ path: String, as other: String) -> Bool {
        var (one, two) = (stat(), stat())
        guard stat(path, &one) == 0, stat(other, &two) == 0 else { return path == other }
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }

    /// The permissions to read, write and run it; nil if there is no file.
    public static func mode(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// The number of its bytes; nil if there is no file.
    public static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// When the file was last written; nil where there is none.
    public static func modificationTime(of path: String) -> WallTime? { time(of: path) { $0.st_mtim } }

    /// When the file's content, owner or mode last changed; nil where there is none.
    public static func changeTime(of path: String) -> WallTime? { time(of: path) { $0.st_ctim } }

    private static func time(of path: String, _ pick: (stat) -> timespec) -> WallTime? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let time = pick(status)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// The whole file. Files of /proc and /sys report no size, so they are read to their end.
    /// - Parameter limit: more bytes than this are EFBIG, so that no file can exhaust the memory.
    public static func bytes(at path: String, limit: Int = 64 << 20) throws(SystemError) -> [UInt8] {
        try bytes(of: try open(path, for: .read), named: path, limit: limit)
    }

    /// The same for an open file.
    static func bytes(
        of file: borrowing FileDescriptor, named path: String, limit: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            switch try read(path, file, &bytes) {
            case .bytes: continue
            case .endOfFile: return bytes
            case .wouldBlock: throw SystemError("read", path, .wouldBlock)
            case .closed: throw SystemError("read", path, .connectionReset)
            }
        }
        throw SystemError("read", path, Errno(code: EFBIG), advice: "it is larger than \(limit) bytes")
    }

    /// A read error names the file, not the number of its descriptor.
    private static func read(
        _ path: String, _ file: borrowing FileDescriptor, _ bytes: inout [UInt8]
    ) throws(SystemError) -> ReadResult {
        do { return try file.read(appendingTo: &bytes, limit: 16 << 10) } catch {
            throw SystemError("read", path, error.errno)
        }
    }

    public static func text(at path: String) throws(SystemError) -> String {
        String(decoding: try bytes(at: path), as: UTF8.self)
    }

    /// Replaces the file at `path` by `bytes`: writes a temporary file, syncs it, renames it, and syncs the directory.
    /// A crash or a full disk leaves the old content whole.
    public static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let aside = "\(path).new.\(getpid())"
        do {
            try write(bytes, toNew: aside, of: path, mode: mode)
            _ = try attempt { Int(rename(aside, path)) }.get("replace", path)
        } catch {
            unlink(aside)
            throw error
        }
        let directory = try openDirectory(parent(of: path))
        _ = try attempt { Int(fsync(directory.raw)) }.get("sync the directory of", path)
    }

    /// The same at a place that you choose. A link, a device or a directory there is refused: to replace it would break
    /// what uses it.
    public static func replacePlain(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw SystemError("replace", path, .exists, advice: "it is no plain file; name another one")
        }
        try replace(path, with: bytes, mode: mode)
    }

    /// Whether the name is taken, be it by a link that leads nowhere.
    public static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Whether a plain file has the name, and no link, device or directory.
    public static func isPlain(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Renames a file, and replaces a file that has the new name.
    public static func move(_ path: String, to other: String) throws(SystemError) {
        _ = try attempt { Int(rename(path, other)) }.get("move \(path) to", other)
    }

    /// Removes a file; a missing file is no error.
    public static func remove(_ path: String) throws(SystemError) {
        switch attempt({ Int(unlink(path)) }) {
        case .value, .failure(.noEntry): return
        case .failure(let errno): throw SystemError("remove", path, errno)
        }
    }

    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// - Parameter path: its final path, which errors name.
    private static func write(
        _ bytes: [UInt8], toNew aside: String, of path: String, mode: UInt32
    ) throws(SystemError) {
        // In a folder that all may write to, another user may have put a link there; its target stays as it is.
        unlink(aside)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let opened = attempt { Int(Glibc.open(aside, flags, mode_t(mode))) }
        let file = FileDescriptor(owning: Int32(try opened.get("create", path)))
        var written = 0
        while written < bytes.count {
            guard case .wrote(let count) = try file.write(bytes, from: written), count > 0 else {
                throw SystemError("write", path, .noSpace)
            }
            written += count
        }
        _ = try attempt { Int(fsync(file.raw)) }.get("sync", path)
    }

    /// An open file without a name, for reading and writing: it is gone when the process ends, however that ends.
    public static func temporary(prefix: String) throws(SystemError) -> FileDescriptor {
        let folder = Environment.value(of: "TMPDIR").flatMap { TrustedDirectory.isSafe($0) ? $0 : nil } ?? "/var/tmp"
        let path = "\(folder)/\(prefix).\(getpid())"
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
        let opened = attempt { Int(Glibc.open(path, flags, mode_t(0o600))) }
        let file = FileDescriptor(owning: Int32(try opened.get("create", path)))
        unlink(path)
        return file
    }

    public static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

public enum Directory {
    /// Makes the directory and the missing ones above it; an existing one keeps its mode.
    /// - Parameter mode: the mode of new directories, whatever the umask.
    public static func create(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        switch attempt({ Int(mkdir(path, mode_t(mode))) }) {
        case .value: open(path, to: mode)
        case .failure(.exists):
            _ = try File.openDirectory(path)
        case .failure(.noEntry) where path.contains("/"):
            try create(File.parent(of: path), mode: mode)
            _ = try attempt { Int(mkdir(path, mode_t(mode))) }.get("make directory", path)
            open(path, to: mode)
        case .failure(let errno): throw SystemError("make directory", path, errno)
        }
    }

    /// Follows no link: where others may write to the folder above, one may have replaced the directory.
    static func open(_ path: String, to mode: UInt32) {
        if mode & 0o077 != 0 { _ = fchmodat(AT_FDCWD, path, mode_t(mode), AT_SYMLINK_NOFOLLOW) }
    }

    /// Names in the directory that begin with `prefix`, sorted, without `.` and `..`.
    public static func names(in path: String, startingWith prefix: String = "") throws(SystemError) -> [String] {
        guard let stream = opendir(path) else { throw SystemError("list", path, .last) }
        defer { closedir(stream) }
        return names(from: stream).filter { $0.hasPrefix(prefix) }.sorted()
    }

    static func names(from stream: OpaquePointer) -> [String] {
        var names: [String] = []
        while let name = nextName(from: stream) { names.append(name) }
        return names
    }

    /// Nil at the end.
    static func nextName(from stream: OpaquePointer) -> String? {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { return name }
        }
        return nil
    }

    /// Removes an empty directory; a missing one is no error.
    public static func remove(_ path: String) throws(SystemError) {
        switch attempt({ Int(rmdir(path)) }) {
        case .value, .failure(.noEntry): return
        case .failure(let errno): throw SystemError("remove directory", path, errno)
        }
    }
}

extension File {
    /// The first word of a file of one value, as those of /sys are; nil where it cannot be read.
    package static func word(at path: String) -> String? {
        (try? text(at: path))?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
}

/// Returns a file's bytes in order, then nil. A failed read ends it too; ``failure`` then has the reason.
public final class FileChunks {
    public private(set) var failure: SystemError?
    private let file: FileDescriptor
    private static let chunkBytes = 64 << 10

    public init(_ path: String) throws(SystemError) { file = try File.open(path, for: .read) }

    public func next() -> [UInt8]? {
        var bytes: [UInt8] = []
        do {
            guard case .bytes = try file.read(appendingTo: &bytes, limit: Self.chunkBytes) else { return nil }
            return bytes
        } catch {
            failure = error
            return nil
        }
    }
}

// Makes paths absolute, so that a process in another directory, and every child, finds the same file.
extension File {
    /// The path from the root; a relative one starts at the working directory. Links and dots stay as they are.
    public static func absolute(_ path: String) throws(SystemError) -> String {
        if path.hasPrefix("/") { return path }
        let parts = path.split(separator: "/").filter { $0 != "." }
        return ([try Directory.current()] + parts.map(String.init)).joined(separator: "/")
    }
}

extension Directory {
    /// The working directory of this process.
    public static func current() throws(SystemError) -> String {
        guard let found = getcwd(nil, 0) else { throw SystemError("find", "the current directory", Errno.last) }
        defer { free(found) }
        return String(cString: found)
    }
}
