// What is written to a handler's standard input: in memory that serves every line, and is given back when a line was long.
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon

@Suite("What is written to a handler") struct InputWriterTests {
    /// A handler that reads all at once, and where what it reads stood.
    private final class Reader: InputReader {
        private(set) var places: [UInt] = []
        private(set) var capacities: [Int] = []

        private(set) var told: [UInt64] = []
        var isFull = false

        func writeInput(_ bytes: [UInt8], from offset: Int) -> WriteResult? {
            if isFull { return .wouldBlock }
            places.append(bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
            capacities.append(bytes.capacity)
            return .wrote(bytes.count - offset)
        }

        func watchInput(_ loop: EventLoop, _ body: @escaping () -> Void) -> Watch? { nil }
        var unreadInput: Int? { 0 }
        func shutInput() {}
        func inputWasWritten() {}
        func deliveryWasWritten(through last: Sequence) { told.append(last.rawValue) }
    }

    private func deliver(_ last: UInt64, by writer: InputWriter) throws {
        try writer.tellWhenWritten(Sequence(last), .seconds(1))
        writer.write { $0.string("line") }
    }

    @Test("a delivery is told of by its last event, once the first was read, and none that is not written whole")
    func tellsWhichWasWritten() throws {
        let (reader, loop) = (Reader(), try EventLoop())
        let writer = InputWriter(to: reader, on: loop)
        try deliver(5, by: writer)
        #expect(reader.told.isEmpty)
        _ = try loop.runOnce(timeout: .seconds(1))
        try deliver(7, by: writer)
        #expect(reader.told == [5, 7])
        reader.isFull = true
        try deliver(9, by: writer)
        #expect(reader.told == [5, 7])
    }

    @Test("who ends well before it was seen to read was given what was written, and not what waits behind that")
    func tellsAtTheEnd() throws {
        let (reader, loop) = (Reader(), try EventLoop())
        let writer = InputWriter(to: reader, on: loop)
        try deliver(5, by: writer)
        reader.isFull = true
        try deliver(7, by: writer)
        writer.noteExit(.exited(code: 0))
        #expect(reader.told == [5])
    }

    @Test("a line is written from the memory of the line before it, however long the first one was")
    func keepsMemory() throws {
        let (reader, loop) = (Reader(), try EventLoop())
        let writer = InputWriter(to: reader, on: loop)
        writer.write { $0.string(String(repeating: "x", count: 1 << 20)) }
        var hoard: [[UInt8]] = []
        for _ in 0..<10 {
            writer.write {
                // What a copy would get is in use.
                hoard.append([UInt8](repeating: 0, count: reader.capacities.last ?? 0))
                $0.string("short")
            }
        }
        #expect(Set(reader.places[1...]).count == 1)
        #expect(reader.capacities[0] >= 1 << 20 && reader.capacities[1...].allSatisfy { $0 < 1 << 16 })
    }
}
