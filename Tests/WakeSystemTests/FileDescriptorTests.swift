// Descriptors, pipes, files: what a read and a write answer, and that a crash leaves old or new.
import Glibc
import Testing
import WakeModel

@testable import WakeSystem

@Suite struct FileDescriptorTests {
    init() { Signals.ignoreBrokenPipes() }

    @Test("an empty pipe would block, a filled one gives its bytes, a closed one its end")
    func reads() throws {
        let pipe = try Pipe(ours: .read)
        var bytes: [UInt8] = []
        #expect(try pipe.readEnd.read(appendingTo: &bytes, limit: 10) == .wouldBlock)
        #expect(try pipe.writeEnd.write([1, 2, 3]) == .wrote(3))
        #expect(try pipe.readEnd.read(appendingTo: &bytes, limit: 2) == .bytes(2))
        #expect(bytes == [1, 2])
        let ends = pipe.releaseEnds()
        close(ends.writeEnd)
        let reader = FileDescriptor(owning: ends.readEnd)
        #expect(try reader.read(appendingTo: &bytes, limit: 2) == .bytes(1))
        #expect(try reader.read(appendingTo: &bytes, limit: 2) == .endOfFile)
    }

    @Test("a full pipe would block and an abandoned one is closed, not a signal")
    func writes() throws {
        let pipe = try Pipe(ours: .write)
        let block = [UInt8](repeating: 0, count: 4096)
        while case .wrote = try pipe.writeEnd.write(block) {}
        #expect(try pipe.writeEnd.write(block) == .wouldBlock)
        let ends = pipe.releaseEnds()
        close(ends.readEnd)
        let writer = FileDescriptor(owning: ends.writeEnd)
        #expect(try writer.write([1]) == .closed)
    }

    @Test("everything made here is close-on-exec")
    func closeOnExec() throws {
        let pipe = try Pipe(ours: .both)
        let file = try File.open("/proc/self/stat", for: .read)
        let copy = try file.duplicate()
        for raw in [
            pipe.readEnd.raw, pipe.writeEnd.raw, file.raw, copy.raw,
        ] {
            #expect(fcntl(raw, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
        }
    }

    @Test("a replaced file holds the new bytes, keeps its owner's eyes only, and leaves nothing aside")
    func replaces() throws {
        let directory = "/tmp/wakebridge-test-\(getpid())-replace/below"
        try Directory.create(directory)
        try File.replace(directory + "/state", with: [1])
        try File.replace(directory + "/state", with: [2, 3])
        #expect(try File.bytes(at: directory + "/state") == [2, 3])
        #expect(try Directory.names(in: directory) == ["state"])
        var status = stat()
        #expect(stat(directory + "/state", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
        try File.remove(directory + "/state")
        try File.remove(directory + "/state")
        try Directory.remove(directory)
        try Directory.remove("/tmp/wakebridge-test-\(getpid())-replace")
    }

    @Test("an error says what was attempted, on what, and why")
    func errors() {
        #expect {
            try File.bytes(at: "/nowhere/at/all")
        } throws: { error in
            "\(error)" == "could not open /nowhere/at/all: No such file or directory (ENOENT)"
        }
    }

    @Test("a bucket gives its burst at once, then its rate, and counts what it refused")
    func rateLimiter() {
        var bucket = RateLimiter(perSecond: 10, burst: 2, now: .zero)
        let granted = [0, 0, 0, 100, 150, 200].map { bucket.consume(now: Instant(nanoseconds: $0 * 1_000_000)) }
        #expect(granted == [true, true, false, true, false, true])
        let refused = [bucket.drainRefused(), bucket.drainRefused()]
        #expect(refused == [2, 0])
    }

    @Test("a log line is one line, whatever it is told")
    func logLines() {
        let line = LogOutput(raw: 2, style: .journal).format(.error, topic: "handler", message: "a\nb\u{7}c")
        #expect(String(decoding: line, as: UTF8.self) == "<3>handler: a b c\n")
    }

    @Test("a log line steers no terminal and turns no writing; other letters stay")
    func plainLogLines() {
        let said = "Küche \u{9b}31m \u{202e}egnp \u{2066}x\u{61c}y 日本"
        let line = LogOutput(raw: 2, style: .terminal).format(.notice, topic: "bluetooth", message: said)
        #expect(String(decoding: line, as: UTF8.self) == "bluetooth: Küche  31m  egnp  x y 日本\n")
    }

    @Test("a log whose reader has stopped reading never waits")
    func logNeverWaits() throws {
        let pipe = try Pipe(ours: .read)
        let log = LogOutput(raw: pipe.writeEnd.raw, style: .terminal)
        let start = SystemClock.monotonic()
        for _ in 0..<5_000 { log.write(.info, topic: "test", message: String(repeating: "x", count: 100)) }
        #expect(SystemClock.monotonic() - start < .seconds(5))
    }
}
