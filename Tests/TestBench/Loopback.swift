// TCP within this machine: a port that is free, and a socket that connects to one.
import Glibc
import WakeSystem

/// A TCP port of loopback that was free a moment ago.
package func freePort() throws -> UInt16 {
    let listening = try NetworkSocket.listen(at: .anyPort)
    guard let own = NetworkSocket.ownEnd(of: listening.raw) else { throw SystemError("find", "a free port", .noEntry) }
    return own.port
}

/// A TCP socket of this machine that begins to connect to the port. Where it does not wait, writing it is ready once it has.
package func loopbackSocket(to port: UInt16, waits: Bool = true) throws -> Int32 {
    let flags = Int32(SOCK_CLOEXEC.rawValue) | (waits ? 0 : Int32(SOCK_NONBLOCK.rawValue))
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard code == 0 || !waits && errno == EINPROGRESS else { throw SystemError("connect to", "port \(port)", .last) }
    return client
}
