// Sockets in a session: the closures that are called for them, what is written, and under which number a process has each.
import Glibc
import Testing
import WakeSystem

@testable import WakeHandler

@Suite("Sockets in a session")
@MainActor
struct SocketCenterTests {
    private let fed = Fed()

    private func happened(_ sequence: Int, _ step: String, _ more: String) -> String {
        occasion(sequence, "socket.\(step)", of: "sip", "{\"socket\":\"sip\",\(more)}")
    }

    @Test("what happens to a socket comes to its closure, whose result finishes the event, and a keep-alive does too")
    func closures() {
        let told = Box<[SocketEvent.Kind]>([])
        let isNew = fed.session.sockets.register(forSocketNamed: "sip") { event in
            told.value.append(event.kind)
            return .useful
        }
        #expect(isNew)
        #expect(!fed.session.sockets.register(forSocketNamed: "sip") { _ in .nothing })
        fed.feed(
            happened(1, "opened", "\"fd\":4"), happened(2, "readable", "\"fd\":4,\"bytes\":212"),
            happened(3, "readable", "\"fd\":4,\"connections\":2"), happened(4, "closed", "\"reason\":\"route\""),
            happened(5, "closed", "\"reason\":\"later\""), happened(6, "keepalive", "\"within_s\":30"))
        #expect(
            told.value == [
                .opened, .readable(212), .readable(2), .closed(.route), .closed(.other("later")),
                .keepAlive(within: .seconds(30)),
            ])
        #expect(fed.answers == (1...6).map { "{\"ack\":\($0),\"result\":\"useful\"}" })
    }

    @Test("how often a peer must hear of the handler is ordered, and a keep-alive goes to its own closure")
    func keepAlive() {
        fed.session.sockets.register(forSocketNamed: "sip") { _ in .useful }
        let isNew = fed.session.sockets.setKeepAliveTimeout(.seconds(900), forSocketNamed: "sip") { _ in
            Issue.record("the process has no such socket")
        }
        #expect(isNew)
        fed.session.sockets.restartKeepAlive(forSocketNamed: "sip")
        fed.session.sockets.reconnect("sip")
        fed.feed(happened(1, "keepalive", "\"within_s\":30"))
        #expect(
            fed.answers == [
                "{\"keepalive\":{\"socket\":\"sip\",\"within_s\":900}}", "{\"keepalive\":{\"socket\":\"sip\"}}",
                "{\"reconnect\":\"sip\"}", "{\"ack\":1,\"result\":\"nothing\"}",
            ])
    }

    @Test("a socket that was inherited is had by its name from the start, one that is passed once an event tells of it")
    func descriptors() throws {
        let daemon = try DescriptorChannel()
        var descriptors = SocketDescriptors(inherited: "web=7,,bad=x", channel: daemon.childEnd)
        #expect(descriptors.names == ["web"] && descriptors["web"] == 7)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let isPassed = daemon.pass(file, with: Array("{\"socket\":\"sip\"}\n".utf8))
        #expect(isPassed)
        descriptors.follow(SocketEvent(name: "web", kind: .readable(1)))
        #expect(descriptors["sip"] == nil)
        descriptors.follow(SocketEvent(name: "sip", kind: .opened))
        let passed = try #require(descriptors["sip"])
        defer { close(passed) }
        var (given, found) = (stat(), stat())
        let isThere = fstat(file, &given) == 0 && fstat(passed, &found) == 0
        #expect(isThere && passed != file && given.st_rdev == found.st_rdev)
        let flags = fcntl(passed, F_GETFD)
        #expect(flags & FD_CLOEXEC != 0, "no program that the handler starts has it")
    }
}
