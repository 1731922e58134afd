// Streams: lines arrive at once, a client that leaves is noticed, a slow one is disconnected, and no other waits.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeControl

@Suite("A stream", .serialized) struct ControlStreamTests {
    /// Gives every request a stream and hands it to `opened`.
    private func streaming(_ opened: @escaping (ControlStream) -> Void) throws -> Fixture {
        try Fixture { request in
            request.path == ["stream"]
                ? .stream(contentType: "application/x-ndjson", onOpen: opened) : .text(status: 200, "ok")
        }
    }

    private func client(of fixture: Fixture) throws -> RawClient {
        let client = try RawClient(fixture.path)
        client.send("GET /stream HTTP/1.1\r\nHost: w\r\n\r\n")
        return client
    }

    @Test("delivers lines as they are sent, long after it was opened")
    func lines() throws {
        var stream: ControlStream?
        let fixture = try streaming { stream = $0 }
        let client = try client(of: fixture)
        var text = ""
        #expect(
            try fixture.turn {
                text += client.receive() ?? ""
                return text.contains("\r\n\r\n")
            })
        #expect(text.contains("application/x-ndjson"))
        for number in 1...3 {
            stream?.send(Array("{\"n\":\(number)}\n".utf8))
            #expect(
                try fixture.turn {
                    text += client.receive() ?? ""
                    return text.contains("{\"n\":\(number)}")
                })
        }
        stream?.close()
        #expect(
            try fixture.turn {
                text += client.receive() ?? ""
                return text.hasSuffix("0\r\n\r\n")
            })
    }

    @Test("what was sent while it opened is delivered, and close ends it after that")
    func closeAtOnce() throws {
        let fixture = try streaming { stream in
            stream.send(Array("first\n".utf8))
            stream.close()
            stream.send(Array("never\n".utf8))
        }
        let outcome = try fixture.curl("http://w/stream")
        #expect(outcome.output == "first\n")
        #expect(outcome.exit == 0)
    }

    @Test("tells when its client has gone, also while nothing is sent")
    func hangup() throws {
        var closed = 0
        let fixture = try streaming { $0.onClose = { _ in closed += 1 } }
        var client: RawClient? = try client(of: fixture)
        #expect(try fixture.turn { (client?.receive() ?? "").contains("200 OK") })
        #expect(closed == 0)
        client = nil
        #expect(try fixture.turn { closed == 1 })
        for _ in 0..<20 { try fixture.loop.runOnce(timeout: .milliseconds(1)) }
        #expect(closed == 1)
    }

    @Test("goes on for a client that has closed only its sending side")
    func halfClose() throws {
        var stream: ControlStream?
        let fixture = try streaming { stream = $0 }
        let client = try client(of: fixture)
        #expect(try fixture.turn { (client.receive() ?? "").contains("200 OK") })
        shutdown(client.descriptor, Int32(SHUT_WR))
        for _ in 0..<10 { try fixture.loop.runOnce(timeout: .milliseconds(1)) }
        #expect(stream?.isOpen == true)
    }

    @Test("with a reader that does not read is ended with a gap line, and no other client waits meanwhile")
    func slowReader() throws {
        var stream: ControlStream?
        var closed = 0
        let fixture = try streaming {
            stream = $0
            $0.onClose = { _ in closed += 1 }
        }
        let slow = try client(of: fixture)
        #expect(try fixture.turn { stream != nil })
        let line = Array((String(repeating: "x", count: 1023) + "\n").utf8)
        var slowTurns = 0
        for _ in 0..<4096 where closed == 0 {
            let start = SystemClock.now().monotonic
            stream?.send(line)
            try fixture.loop.runOnce(timeout: .zero)
            if SystemClock.now().monotonic - start > .milliseconds(50) { slowTurns += 1 }
        }
        #expect(closed == 1)
        #expect(stream?.isOpen == false)
        // A machine that is busy elsewhere may take the processor away once or twice; waiting for the reader would show
        // in every turn.
        #expect(slowTurns <= 2)
        #expect(try fixture.curl("http://w/other").output == "ok")
        var text = ""
        var ended = false
        #expect(
            try fixture.turn {
                if let more = slow.receive() { text += more } else { ended = true }
                return ended || text.hasSuffix("0\r\n\r\n")
            })
        #expect(text.contains("{\"gap\":{\"cause\":\"overflow\",\"lines\":"))
    }

    @Test("is ended by the server's closing, with others sleeping and sending beside it")
    func serverCloses() throws {
        var closed = 0
        let fixture = try streaming { $0.onClose = { _ in closed += 1 } }
        let clients = try (0..<5).map { _ in try client(of: fixture) }
        var silent = clients
        #expect(
            try fixture.turn {
                silent.removeAll { $0.receive() != "" }
                return silent.isEmpty
            })
        fixture.server.close()
        #expect(closed == 5)
        #expect(access(fixture.path, F_OK) != 0)
    }

    @Test("a loop with idle streams has nothing to do")
    func idle() throws {
        var streams: [ControlStream] = []
        let fixture = try streaming { streams.append($0) }
        let clients = try (0..<3).map { _ in try client(of: fixture) }
        #expect(try fixture.turn { streams.count == 3 })
        while try fixture.loop.runOnce(timeout: .milliseconds(20)) {}
        #expect(try !fixture.loop.runOnce(timeout: .milliseconds(300)))
        withExtendedLifetime(clients) {}
    }

    @Test("cuts its backlog only between pieces, and counts what it drops")
    func backlog() {
        var backlog = StreamBacklog(capacity: 12)
        let fits = ["aaaa\n", "bbbb\n", "cccc\n"].map { backlog.append(Array($0.utf8)) }
        #expect(fits == [true, true, false])
        let started = backlog.removeFirst(upTo: 2)
        #expect(started == Array("aa".utf8))
        backlog.truncate { Array("lost \($0)\n".utf8) }
        let rest = backlog.removeFirst(upTo: 100)
        #expect(rest == Array("aa\nlost 2\n".utf8))
        #expect(backlog.count == 0)
    }

    @Test("a long backlog comes out whole and in order, whatever the pieces it is removed in")
    func backlogOrder() {
        var backlog = StreamBacklog(capacity: 1 << 20)
        let pieces = (0..<500).map { Array("line \($0)\n".utf8) }
        for piece in pieces {
            let fits = backlog.append(piece)
            #expect(fits)
        }
        var removed: [UInt8] = []
        while backlog.count > 0 { removed += backlog.removeFirst(upTo: 7) }
        #expect(removed == pieces.flatMap { $0 })
    }
}
