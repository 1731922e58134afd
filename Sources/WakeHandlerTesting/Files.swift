// The files that a recording is read from.
import WakeHandler

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Why a file cannot be read, in the system's words.
struct FileFault: Error {
    let reason: String
}

func readFile(_ path: String) throws(FileFault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFault(reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while case .bytes(let more) = readInput(descriptor) { bytes += more }
    return bytes
}

/// The paths below a folder that fit a shell's pattern, sorted. The folder's own name is taken as it is.
func paths(matching pattern: String, below folder: String) -> [String] {
    let plain = folder.map { "*?[\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(plain + pattern, 0, nil, &found) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { place in found.gl_pathv?[place].map { String(cString: $0) } }
}
