// A process that is stepped through: what counts is what it executes between its device's word and the thaw.
import BenchmarkProbe
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("One instruction at a time")
struct StepTests {
    private static let room = 1 << 20

    @Test("a wake is counted from the read to the write of one \"0\", and the process goes on by itself after it")
    func counted() throws {
        let device = try Pipe(ours: .write).releaseEnds()
        let shell = try Child(["/bin/sh", "-c", "read word; printf 0"], input: device.readEnd)
        close(device.readEnd)
        // The shell waits in read(2) on its first descriptor.
        #expect(Patience.wait { text(of: "/proc/\(shell.process)/syscall").hasPrefix("0 0x0 ") })
        let failure = benchmark_halt(shell.process)
        guard failure == 0 else {
            close(device.writeEnd)
            return print("SKIPPED: this process may not trace another (\(String(cString: strerror(-failure))))")
        }
        _ = Glibc.write(device.writeEnd, "1\n", 2)
        close(device.writeEnd)
        var clock = benchmark_clock()
        var places = [UInt64](repeating: 0, count: Self.room)
        let count = benchmark_step(shell.process, &clock, &places, Int64(Self.room))
        benchmark_resume(shell.process)
        guard count != -Int64(ENOSYS) else { return print("SKIPPED: nothing is stepped through but on x86-64") }
        try #require(count > 100 && count < 100_000)
        #expect(places[0] != 0 && places[Int(count) - 1] != 0)
        #expect(shell.finish(within: 20).output == "0")
    }
}
