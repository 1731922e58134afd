// Makes paths absolute, so that a process in another directory, and every child of ours, finds the same file.
import Glibc

extension File {
    /// The path from the root; a relative one starts at the working directory. Links and dots stay as they are.
    public static func absolute(_ path: String) throws(SystemError) -> String {
        path.hasPrefix("/") ? path : try Directory.current() + "/" + path
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
