// What the control socket does while the library that speaks HTTP cannot be had.
import Synchronization
import TestBench
import Testing
import WakeLoop
import WakeSystem

@testable import WakeControl

@Suite("The library behind the control socket", .serialized) struct LibraryTests {
    /// Fails twice.
    private final class Loader: Sendable {
        let tries = Mutex(0)

        func load() -> String? {
            let number = tries.withLock { count in
                count += 1
                return count
            }
            return number <= 2 ? "it is not there" : HTTPEdge.load()
        }
    }

    @Test("a client that connects while libmicrohttpd cannot be loaded waits, and is answered once it can")
    func waits() throws {
        let directory = makeDirectory("/tmp/wakecontrol.XXXXXX")
        defer { Directory.removeTree(directory) }
        let (loop, loader, path) = (try EventLoop(), Loader(), directory + "/control.sock")
        let server = try ControlServer(loop: loop, socketPath: path, group: nil) { _ in
            .text(status: 200, "here")
        } loadLibrary: {
            loader.load()
        }
        defer { server.close() }
        // No client has connected, so it is tried no more than once.
        #expect(try loop.turn(for: .milliseconds(1_500)) { loader.tries.withLock { $0 } > 1 } == false)
        let asking = try Child(["curl", "-sS", "--max-time", "20", "--unix-socket", path, "http://w/v1/status"])
        while !asking.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        #expect(asking.output == "here" && loader.tries.withLock { $0 } == 3, "\(asking.talk)")
    }
}
