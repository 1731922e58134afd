// Clients of a real server: curl as a process, and one that speaks in bytes.
import Glibc
import TestBench
import WakeSystem

extension Fixture {
    func curl(_ arguments: String...) throws -> Outcome {
        try run(["curl", "-sS", "--max-time", "20", "--unix-socket", path] + arguments)
    }
}

/// A client that speaks in bytes, for what no well-behaved client sends.
final class RawClient {
    let descriptor: Int32

    init(_ path: String, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard connected == 0 else { throw SystemError("connect to", path, .last) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// What is there now; nil at the end of the connection.
    func receive() -> String? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN) { return nil }
        return count < 0 ? "" : String(decoding: chunk[..<count], as: UTF8.self)
    }
}

func openDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
