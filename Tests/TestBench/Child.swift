// Programs run as processes by tests, with what they write gathered.
import Glibc
import WakeModel
import WakeSystem

/// A process whose output and talk are gathered apart.
package final class Child: Peer {
    package let process: pid_t
    private var streams: [Gatherer]
    package private(set) var exit: Int32 = -1
    private var hasExited = false

    /// - Parameter input: what it reads; nil for nothing.
    package init(_ arguments: [String], input: Int32? = nil) throws {
        let (output, talk) = (try Gatherer(), try Gatherer())
        process = try spawn(
            arguments, input: input, output: .descriptor(output.writing), talk: .descriptor(talk.writing))
        streams = [output, talk]
        for stream in streams { stream.closeWriting() }
    }

    deinit {
        if !hasExited { killAndReap(process) }
    }

    /// Waits to its end, and kills what does not come to it: that says so in its talk.
    package func finish(within seconds: Int64 = 600) -> (exit: Int32, output: String, talk: String) {
        guard Patience.wait(.seconds(seconds), until: { isOver }) else {
            kill(process, SIGKILL)
            return (-SIGKILL, output, talk + "\nkilled by the tests: it was not over after \(seconds) s")
        }
        return (exit, output, talk)
    }

    /// Waits for its end without blocking the thread that other tests share.
    package func result() async throws -> (exit: Int32, output: String, talk: String) {
        _ = try await wait(600) { isOver }
        return finish(within: 0)
    }

    package var processes: [Int32] { hasExited ? [] : [process] }

    package var output: String { streams[0].text }
    package var talk: String { streams[1].text }

    /// True once the process has ended and all it wrote is here.
    package var isOver: Bool {
        if !hasExited, let exit = end(of: process) {
            hasExited = true
            self.exit = exit
        }
        return streams.allSatisfy { $0.isAtEnd } && hasExited
    }
}

/// One pipe and what came through it.
private final class Gatherer {
    private let reading: Int32
    private(set) var writing: Int32
    private var bytes: [UInt8] = []
    private var hasEnded = false

    init() throws { (reading, writing) = try Pipe(ours: .read).releaseEnds() }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    var text: String {
        drain()
        return String(decoding: bytes, as: UTF8.self)
    }

    var isAtEnd: Bool {
        drain()
        return hasEnded
    }

    /// A part of it at a time: who never ends to speak must not keep the test from looking at its clock.
    private func drain() {
        var chunk = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<64 where !hasEnded {
            let count = read(reading, &chunk, chunk.count)
            if count == 0 { hasEnded = true }
            guard count > 0 else { return }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
