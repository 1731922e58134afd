// Files and directories as tests look at them and make them: what is not there is empty, and no test stops for it.
import Glibc
import WakeSystem

/// The package's folder, from where this file lies.
package let packageFolder = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

/// The whole file; empty where there is none.
package func bytes(of path: String) -> [UInt8] { (try? File.bytes(at: path, limit: 1 << 30)) ?? [] }
package func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }
package func lines(of path: String) -> [String] { text(of: path).split(separator: "\n").map(String.init) }

/// Sorted; none where there is no such directory.
package func names(in directory: String) -> [String] { (try? Directory.names(in: directory)) ?? [] }

/// Writes a file whole, as any program would: in place, nothing synced.
package func put(_ bytes: [UInt8], at path: String, mode: mode_t = 0o644) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
    }
    close(file)
    // The umask has nothing to say in a test's own directory.
    chmod(path, mode)
}

package func put(_ text: String, at path: String, mode: mode_t = 0o644) { put(Array(text.utf8), at: path, mode: mode) }

/// A directory of the test's own that handlers of another user can pass through; `pattern` ends in `XXXXXX`.
package func makeDirectory(_ pattern: String) -> String {
    var template = Array(pattern.utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("cannot make a directory as \(pattern)") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    chmod(path, 0o755)
    return path
}

package func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
