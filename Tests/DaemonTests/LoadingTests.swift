// What a daemon loads only when it has nothing else to do.
import TestBench
import Testing
import WakeSystem

@Suite("What is loaded late", .serialized)
struct LoadingTests {
    @Test("libmicrohttpd is loaded once the daemon is ready, before the first request")
    func http() throws {
        let daemon = try RunningDaemon()
        try daemon.startUnasked()
        #expect(daemon.wait { text(of: "/proc/\(daemon.process)/maps").contains("libmicrohttpd") })
        #expect(try daemon.tool("status").exit == 0)
    }
}
