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
        let client = try loopbackSocket(to: port)
        defer { close(client) }
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
