// Paths made whole: a process that enters another directory, and every child of ours, must still find the same file.
import Glibc

extension File {
    /// The path from the root; a relative one starts where this process is. Links and dots in it stay as they are.
    public static func absolute(_ path: String) throws(SystemError) -> String {
        path.hasPrefix("/") ? path : try Directory.current() + "/" + path
    }
}

extension Directory {
    /// Where this process is.
    public static func current() throws(SystemError) -> String {
        guard let found = getcwd(nil, 0) else { throw SystemError("find", "the current directory", Errno.last) }
        defer { free(found) }
        return String(cString: found)
    }
}
