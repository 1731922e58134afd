// A socket for datagrams whose sender passes descriptors that take long to close.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite(.timeLimit(.minutes(1)))
struct DatagramSocketTests {
    private let path = "\(makeDirectory("/tmp/wakebridge-datagrams-XXXXXX"))/socket"

    /// The kernel closes such a connection only when its peer has read all of it, which it never does, or after 20 s.
    private static let sender = """
        import array, socket, struct, sys, time
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        def lingering():
            end = socket.create_connection(listener.getsockname())
            peer = listener.accept()[0]
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 20))
            end.setblocking(False)
            try:
                while True: end.send(bytes(65536))
            except BlockingIOError: pass
            return end, peer
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.connect(sys.argv[1])
        peers = []
        for text in sys.argv[2:]:
            end, peer = lingering()
            peers.append(peer)
            notices.sendmsg([text.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [end.fileno()]))])
            end.close()
        print("sent", flush=True)
        time.sleep(60)
        """

    /// Keeps the peers of what it sent until it is killed.
    private func send(_ texts: String...) async throws -> Child {
        let child = try Child(["python3", "-c", Self.sender, path] + texts)
        try #require(try await wait(10) { child.output.contains("sent") })
        return child
    }

    private func milliseconds(_ body: () throws -> Void) rethrows -> Int64 {
        let start = SystemClock.monotonic()
        try body()
        return (SystemClock.monotonic() - start).wholeMilliseconds
    }

    @Test("a descriptor that lingers for 20 s is closed on a thread, and the datagrams behind it are still there")
    func dropsOnThread() async throws {
        let socket = try DatagramSocket(at: path, owner: nil, closings: ForeignClosings())
        let child = try await send("first", "second")
        defer { kill(child.process, SIGKILL) }
        let first = try #require(try socket.peek(limit: 64))
        #expect(first.carriesDescriptors && first.bytes == Array("first".utf8))
        #expect(first.sender.pid == child.process)
        var job: BackgroundJob<Void>?
        #expect(try milliseconds { job = try socket.dropOnThread() } < 2_000)
        #expect(try await wait(5) { (try? socket.peek(limit: 64))?.bytes == Array("second".utf8) })
        #expect(job?.removeResult() == nil, "it lingers")
    }

    @Test("a socket goes at once although what waits in it lingers for 20 s, and its sender may occupy few threads")
    func closesOnThread() async throws {
        let closings = ForeignClosings()
        var children: [Child] = []
        defer { for child in children { kill(child.process, SIGKILL) } }
        for _ in 0..<ForeignClosings.limit {
            #expect(!closings.isFull)
            var socket: DatagramSocket? = try DatagramSocket(at: path, owner: nil, closings: closings)
            children.append(try await send("left behind"))
            #expect(milliseconds { socket = nil } < 2_000)
            #expect(socket == nil && access(path, F_OK) != 0)
        }
        #expect(closings.isFull)
        #expect(throws: SystemError.self) { _ = try closings.begin {} }
        // The connections end with their peers, and the threads with them.
        for child in children { kill(child.process, SIGKILL) }
        #expect(try await wait(10) { !closings.isFull })
    }

    @Test("plain datagrams are read in order, each with its sender, and one that is too long says so")
    func plain() throws {
        let socket = try DatagramSocket(at: path, owner: nil, closings: ForeignClosings())
        _ = try Child([
            "python3", "-c",
            "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(sys.argv[1]); "
                + "s.send(b'one'); s.send(bytes(100))", path,
        ]).finish()
        let one = try #require(try socket.peek(limit: 64))
        #expect(one.bytes == Array("one".utf8) && !one.isTruncated && !one.carriesDescriptors)
        #expect(one.sender.user == geteuid())
        socket.drop()
        #expect(try #require(try socket.peek(limit: 64)).isTruncated)
        socket.drop()
        #expect(try socket.peek(limit: 64) == nil)
    }
}
