// The limit of a crowd, with pipes for handlers and plain files for their freezers.
import BenchmarkProbe
import Glibc
import Testing
import WakeModel
import WakeSystem

@Suite("The limit of a crowd")
struct CrowdLimitTests {
    private struct Seen {
        /// What each handler's pipe holds in the end.
        var inputs: [String] = []
        var freezers: [String] = []
        var began = Instant.zero
        var took = TimeSpan.zero
    }

    /// One word of the device, and two handlers, which are warned after 20 ms and frozen after 40.
    private func lead(atOnce: Bool) throws -> Seen {
        let folder = try Directory.makeTemporary(prefix: "wakecrowd")
        defer { Directory.removeTree(folder) }
        let device = try Pipe(ours: .both).releaseEnds()
        _ = Glibc.write(device.writeEnd, "1", 1)
        close(device.writeEnd)
        let inputs = try (0..<2).map { _ in try Pipe(ours: .read).releaseEnds() }
        let freezers = (0..<2).map { open("\(folder)/\($0)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        defer { for file in inputs.map(\.readEnd) + freezers + [device.readEnd] { close(file) } }
        var seen = Seen()
        seen.began = SystemClock.monotonic()
        let code = inputs.map(\.writeEnd).withUnsafeBufferPointer { inputs in
            freezers.withUnsafeBufferPointer { freezers in
                var crowd = benchmark_crowd(
                    source: device.readEnd, count: 2, inputs: inputs.baseAddress, freezers: freezers.baseAddress,
                    warn_after: 20_000_000, freeze_after: 40_000_000, at_once: atOnce ? 1 : 0)
                return benchmark_lead(&crowd)
            }
        }
        #expect(code == 0)
        seen.took = SystemClock.monotonic() - seen.began
        for input in inputs { close(input.writeEnd) }
        seen.inputs = inputs.map { text(of: $0.readEnd) }
        seen.freezers = try (0..<2).map { try File.text(at: "\(folder)/\($0)") }
        return seen
    }

    private func text(of pipe: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(pipe, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test(
        "each handler is given the event, then the warning, then the freeze, and none of it too early",
        arguments: [true, false])
    func order(atOnce: Bool) throws {
        let seen = try lead(atOnce: atOnce)
        for input in seen.inputs {
            let types = input.split(separator: "\n").map { line in
                ["resumed", "device.data", "expiring"].filter { line.contains("\"wakebridge.\($0)\"") }
            }
            #expect(types == [["resumed"], ["device.data"], ["expiring"]])
        }
        #expect(seen.freezers == ["1", "1"])
        #expect(seen.took >= .milliseconds(40))
    }

    @Test("the notice of the thaw tells when it was written, which a board gives back on the monotonic clock")
    func time() throws {
        let seen = try lead(atOnce: false)
        let end = SystemClock.monotonic()
        for input in seen.inputs {
            var board = benchmark_board()
            #expect(benchmark_woken_at(&board) == 0)
            withUnsafeMutableBytes(of: &board.thaw) { $0.copyBytes(from: input.utf8.prefix($0.count - 1)) }
            let at = Instant(nanoseconds: benchmark_woken_at(&board))
            // The notice tells microseconds.
            #expect(at > seen.began - .microseconds(50) && at < end)
            #expect(at < seen.began + (seen.took - .milliseconds(30)))
        }
    }
}
