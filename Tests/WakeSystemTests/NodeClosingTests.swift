// Nodes that are slow to close: the loop does not wait for them, and what was written to them is still sent.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("Closing a node", .serialized) struct NodeClosingTests {
    @Test("is left to a thread, unless the device has hung up: then it is closed at once")
    func closes() throws {
        let pty = try Pty()
        let path = pty.path
        let port = try SerialPort(opening: path, LineSettings(), isExclusive: true)
        #expect(openings(of: path) == 1)
        pty.hangUp()
        NodeProbe.end(port)
        #expect(openings(of: path) == 0)

        let other = try Pty()
        NodeProbe.end(try SerialPort(opening: other.path, LineSettings(), isExclusive: true))
        #expect(NodeClosing.wait(atMost: .seconds(10)))
        #expect(openings(of: other.path) == 0)
    }

    /// How many descriptors this process has of it.
    private func openings(of path: String) -> Int {
        names(in: "/proc/self/fd").filter { name in
            var target = [UInt8](repeating: 0, count: 256)
            let count = target.withUnsafeMutableBytes { room in
                room.withMemoryRebound(to: CChar.self) { room in
                    room.baseAddress.map { readlink("/proc/self/fd/\(name)", $0, room.count) } ?? 0
                }
            }
            let link = String(decoding: target.prefix(max(count, 0)), as: UTF8.self)
            return link == path || link == path + " (deleted)"
        }.count
    }

    @Test("that waits for unsent bytes delays only the end of the bridge, and that for a while")
    func lingers() throws {
        let line = try LingeringSocket(seconds: 2)
        let began = SystemClock.monotonic()
        line.end()
        #expect(SystemClock.monotonic() - began < .milliseconds(500))
        #expect(!NodeClosing.wait(atMost: .milliseconds(300)))
        #expect(NodeClosing.wait(atMost: .seconds(10)))
        #expect(SystemClock.monotonic() - began > .milliseconds(1_500))
    }
}

/// What the kernel closes only when it has sent everything, or so many seconds later: a full connection without a reader.
private struct LingeringSocket: ~Copyable {
    private let node: FileDescriptor
    private let others: [Int32]

    init(seconds: Int32) throws {
        let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let (listener, sender) = (socket(AF_INET, stream, 0), socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var patience = linger(l_onoff: 1, l_linger: seconds)
        let isConnected = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(sender, address, size) == 0
            }
        }
        let option = socklen_t(MemoryLayout<linger>.size)
        try #require(isConnected && setsockopt(sender, SOL_SOCKET, SO_LINGER, &patience, option) == 0)
        let other = accept(listener, nil, nil)
        _ = fcntl(other, F_SETFD, FD_CLOEXEC)
        others = [listener, other]
        _ = fcntl(sender, F_SETFL, O_NONBLOCK)
        let block = [UInt8](repeating: 0, count: 1 << 16)
        while write(sender, block, block.count) > 0 {}
        node = FileDescriptor(owningNode: sender)
    }

    /// The other side stays as it is.
    consuming func end() {}
}

private enum NodeProbe {
    static func end(_ port: consuming SerialPort) {}
}
