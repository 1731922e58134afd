// What is written to a handler's standard input. One buffer serves every line, and is freed after a long one.
import Glibc
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

@Suite("What is written to a handler") struct InputWriterTests {
    /// The input side of a process, and the deliveries that were reported as read.
    private final class Handler {
        let writer: InputWriter
        private let loop: EventLoop
        private let readEnd: FileDescriptor
        private let writeEnd: Int32
        private(set) var reported: [UInt64] = []

        init(on loop: EventLoop) throws {
            let ends = try Pipe(ours: .both).releaseEnds()
            self.loop = loop
            readEnd = FileDescriptor(owning: ends.readEnd)
            writeEnd = ends.writeEnd
            writer = InputWriter(
                PipeEnd(FileDescriptor(owning: ends.writeEnd)), ProcessErrorLog(log: Log("test"), pid: 0))
        }

        func deliver(_ last: UInt64) throws {
            try writer.trackDelivery(Sequence(last), .seconds(1)) { () throws(SystemError) in
                try loop.timer(on: .monotonic, of: self) { $0.report($0.writer.checkForFirstRead()) }
            }
            writer.append { $0.string("line") }
            if case .written(let last) = writer.write() { report(last) }
        }

        /// The process exits with status 0.
        func end() { report(writer.recordExit(.exited(code: 0))) }
        private func report(_ last: Sequence?) { if let last { reported.append(last.rawValue) } }

        /// Reads what was written.
        func read() throws {
            var bytes: [UInt8] = []
            _ = try readEnd.read(appendingTo: &bytes, limit: 1_024)
        }

        /// Leaves no room in the pipe.
        func fill() {
            let junk = [UInt8](repeating: 0, count: 4_096)
            while write(writeEnd, junk, junk.count) > 0 {}
        }
    }

    @Test("a delivery is reported by its last event, once it is fully written and the program has begun to read")
    func reportsWhatWasWritten() throws {
        let loop = try EventLoop()
        let handler = try Handler(on: loop)
        try handler.deliver(5)
        #expect(handler.reported.isEmpty)
        try handler.read()
        _ = try loop.runOnce(timeout: .seconds(1))
        try handler.deliver(7)
        #expect(handler.reported == [5, 7])
        handler.fill()
        try handler.deliver(9)
        #expect(handler.reported == [5, 7])
    }

    @Test(
        "a handler that exits with 0 before its first read got what was written, and not what waits behind that"
    )
    func reportsAtTheEnd() throws {
        let handler = try Handler(on: EventLoop())
        try handler.deliver(5)
        handler.fill()
        try handler.deliver(7)
        handler.end()
        #expect(handler.reported == [5])
    }

    @Test("a line reuses the memory of the line before it, however long the first one was")
    func keepsMemory() throws {
        let sink = FileDescriptor(owning: open("/dev/null", O_WRONLY | O_CLOEXEC))
        let writer = InputWriter(PipeEnd(sink), ProcessErrorLog(log: Log("test"), pid: 0))
        var (places, capacities): ([UInt], [Int]) = ([], [])
        func write(_ text: String) {
            writer.append { lines in
                lines.string(text)
                places.append(lines.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
                capacities.append(lines.bytes.capacity)
            }
            if case .written = writer.write() { return }
            Issue.record("it is not written")
        }
        write(String(repeating: "x", count: 1 << 20))
        var hoard: [[UInt8]] = []
        for _ in 0..<10 {
            // What a copy would get is in use.
            hoard.append([UInt8](repeating: 0, count: capacities.last ?? 0))
            write("short")
        }
        #expect(Set(places[1...]).count == 1)
        #expect(capacities[0] >= 1 << 20 && capacities[1...].allSatisfy { $0 < 1 << 16 })
    }
}
