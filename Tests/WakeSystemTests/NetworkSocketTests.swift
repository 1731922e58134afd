// TCP connections as the kernel keeps them.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("A TCP connection") struct NetworkSocketTests {
    @Test("one whose other end vanished without a word is ended by the kernel within two minutes")
    func keepsAlive() throws {
        let port = try freePort()
        let listening = try NetworkSocket.listen(at: try #require(NetworkAddress("127.0.0.1:\(port)")))
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0)
        let accepted = accept(listening.raw, nil, nil)
        defer { close(accepted) }
        #expect(option(SOL_SOCKET, SO_KEEPALIVE, of: accepted) == 1)
        let tcp = Int32(IPPROTO_TCP)
        let silence = option(tcp, TCP_KEEPIDLE, of: accepted)
        let asking = option(tcp, TCP_KEEPINTVL, of: accepted) * option(tcp, TCP_KEEPCNT, of: accepted)
        #expect(silence > 0 && asking > 0 && silence + asking <= 120)
    }

    private func option(_ level: Int32, _ name: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1
    }
}
