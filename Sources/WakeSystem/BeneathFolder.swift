// Files beneath one folder: no path leads out of it, and no link is followed.
import CLinux
import Glibc

public final class BeneathFolder: Sendable {
    private let folder: FileDescriptor
    public let path: String

    public init(_ path: String) throws(SystemError) {
        let raw = try attempt { Int(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }.get("open", path)
        folder = FileDescriptor(owning: Int32(raw))
        self.path = path
    }

    /// A folder in it, made where there is none.
    public init(_ name: String, in parent: BeneathFolder) throws(SystemError) {
        path = "\(parent.path)/\(name)"
        let number = parent.folder.raw
        if case .failure(let errno) = attempt({ Int(mkdirat(number, name, 0o700)) }), errno != .exists {
            throw SystemError("make", "\(parent.path)/\(name)", errno)
        }
        folder = try parent.open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    /// A plain file, to be read.
    public func openForReading(_ name: String) throws(SystemError) -> FileDescriptor {
        let file = try open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        try require(file, name)
        return file
    }

    /// A plain file, made where there is none.
    public func openForWriting(_ name: String) throws(SystemError) -> FileDescriptor {
        let file = try open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        try require(file, name)
        return file
    }

    public func bytes(of name: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try openForReading(name)
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try file.read(into: &bytes, at: 0)
        return Array(bytes.prefix(count))
    }

    /// Whole or not at all, on the disk when this returns.
    public func replace(_ name: String, with bytes: [UInt8]) throws(SystemError) {
        let aside = "\(name).new"
        let file = try open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        do throws(SystemError) {
            try file.write(all: bytes, at: 0, of: "\(path)/\(aside)")
            try file.synchronize(aside)
            try move(aside, to: name, in: self)
        } catch {
            remove(aside)
            throw error
        }
    }

    /// Gives the file another name, perhaps in a folder beneath `target`; both are on the disk when this returns.
    public func move(_ name: String, to path: String, in target: BeneathFolder) throws(SystemError) {
        guard let last = path.split(separator: "/").last else { throw SystemError("move \(name) to", path, .invalid) }
        let place = try target.openParent(of: path)
        let (from, to) = (folder.raw, place.raw)
        _ = try attempt { Int(renameat(from, name, to, String(last))) }.get("move \(name) to", path)
        _ = try attempt { Int(fsync(to)) }.get("sync the folder of", path)
    }

    /// Throws if the folder of a file with this path cannot be opened.
    public func requireFolder(of path: String) throws(SystemError) { _ = try openParent(of: path) }

    private func openParent(of path: String) throws(SystemError) -> FileDescriptor {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        return try open(parent.isEmpty ? "." : parent, O_RDONLY | O_DIRECTORY)
    }

    /// A missing file is no error.
    public func remove(_ name: String) { unlinkat(folder.raw, name, 0) }

    public func names() throws(SystemError) -> [String] { try Directory.names(in: path) }

    private func open(_ name: String, _ flags: Int32) throws(SystemError) -> FileDescriptor {
        let number = folder.raw
        let raw = try attemptC { clinux_open_beneath(number, name, flags, 0o600) }.get("open", "\(path)/\(name)")
        return FileDescriptor(owning: Int32(raw))
    }

    /// A FIFO or a device in its place would hold up all other files.
    private func require(_ file: borrowing FileDescriptor, _ name: String) throws(SystemError) {
        guard try file.status(of: name).st_mode & S_IFMT == S_IFREG else {
            throw SystemError("open", "\(path)/\(name)", .invalid, advice: "it is no plain file; put one there")
        }
    }
}

extension FileDescriptor {
    /// Its bytes are on the disk when this returns.
    public borrowing func synchronize(_ name: String) throws(SystemError) {
        let number = raw
        _ = try attempt { Int(fdatasync(number)) }.get("sync", name)
    }

    /// The kernel begins to write these bytes to the disk; nothing waits for it.
    public borrowing func beginWriteback(from start: Int64, to end: Int64) {
        _ = clinux_begin_writeback(raw, off_t(start), off_t(end - start))
    }

    public borrowing func cut(to count: Int64, _ name: String) throws(SystemError) {
        let number = raw
        _ = try attempt { Int(ftruncate(number, off_t(count))) }.get("cut", name)
    }

    public borrowing func byteCount(of name: String) throws(SystemError) -> Int64 {
        Int64(try status(of: name).st_size)
    }

    fileprivate borrowing func status(of name: String) throws(SystemError) -> stat {
        let number = raw
        var status = stat()
        _ = try attempt { Int(fstat(number, &status)) }.get("look at", name)
        return status
    }
}
