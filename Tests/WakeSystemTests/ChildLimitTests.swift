// What a child cannot do to us or to others: it is given a pipe to answer through, and limits that it cannot raise.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("The limits of a child", .enabled(if: hasCgroups, "cgroup v2 with write access is needed"))
struct ChildLimitTests {
    @Test("descriptor 3 is a pipe, through which a child cannot pass descriptors that we would have to close")
    func repliesByPipe() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(
            shell("test -p /proc/self/fd/3 && echo pipe; echo said >&3"), into: bench.container())
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "pipe\n")
        #expect(try waitForEnd(of: child) == .exited(code: 0))
        #expect(try child.replies.bytesWaiting() == 5)
    }

    @Test("over its channel a child is passed descriptors, and can send none that we would have to close")
    func channelOneWay() throws {
        let bench = try TestTree()
        let channel = try DescriptorChannel()
        var request = python(
            """
            import socket
            channel = socket.socket(fileno=12)
            try:
                socket.send_fds(channel, [b"x"], [1])
            except BrokenPipeError:
                print("nothing is taken")
            text, numbers, _, _ = socket.recv_fds(channel, 64, 1)
            print(text.decode(), len(numbers))
            """)
        request.inherited = [Int32](repeating: -1, count: 8) + [try #require(channel.childEnd)]
        let child = try ChildProcess.spawn(request, into: bench.container())
        channel.releaseChildEnd()
        #expect(channel.childEnd == nil && channel.pass(child.pidfd.raw, with: Array("sip".utf8)))
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "nothing is taken\nsip 1\n")
        #expect(try waitForEnd(of: child) == .exited(code: 0))
        #expect(!channel.pass(child.pidfd.raw, with: [1]), "nobody reads any more")
    }

    @Test(
        "a child has the limits that it was given before its first instruction, and cannot raise them without privileges"
    )
    func limits() throws {
        let bench = try TestTree()
        var request = shell(
            "ulimit -Sn; ulimit -Hn; ulimit -Hp 2>/dev/null || sed -n 's/^Max processes *[0-9]* *//p' /proc/self/limits"
        )
        request.limits.openFiles = .init(soft: 64, hard: 128)
        request.limits.userProcesses = .init(soft: 777, hard: 777)
        let child = try ChildProcess.spawn(request, into: bench.container())
        try child.container.thaw()
        #expect(try readToEnd(child.output).split { " \n".contains($0) }.prefix(3) == ["64", "128", "777"])
        #expect(try waitForEnd(of: child) == .exited(code: 0))
    }
}
