// Ten thousand wakes: what the daemon holds afterwards is what it held before.
import Glibc
import TestBench
import Testing
import WakeModel

@Suite(
    "Endurance", .tags(.fullScale), .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct EnduranceTests {
    private let scratch = Scratch()

    private func wakes(_ daemon: RunningDaemon) async throws -> Int {
        let answer = try await daemon.tool("handlers", "--json").output
        let value = try JSONValue(parsing: Array(answer.utf8))
        return value["handlers"]?.array?.first?["wakes"]?.integer.map(Int.init) ?? 0
    }

    @Test("10,000 wakes leave descriptors, cgroups and memory of the daemon flat", .timeLimit(.minutes(5)))
    func staysFlat() async throws {
        // Enough of them for a slow machine too; who has had its wakes stops early.
        var trace = TraceText()
        trace.addBeats(100_000, from: 0, every: 0.002)
        let file = scratch.write(trace.text, to: "beats.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["strap": manifest([Built.fixture], "timers: { linger: \"0s\" }")], replay: file)
        #expect(try await wait(200, every: 0.1) { try await wakes(daemon) >= 500 })
        let before = (descriptors: daemon.running.openDescriptors, memory: daemon.running.kibibytes("VmRSS"))
        #expect(try await wait(200, every: 0.5) { try await wakes(daemon) >= 10_500 })
        // The tool's own connections come and go, so a few looks are taken.
        let areSame = try await wait(5) { daemon.running.openDescriptors <= before.descriptors }
        #expect(areSame, "\(before.descriptors) descriptors became \(daemon.running.openDescriptors)")
        #expect(daemon.leaves.names.count == 1)
        let grown = daemon.running.kibibytes("VmRSS") - before.memory
        #expect(grown < 3 << 10, "resident memory grew by \(grown) KiB from \(before.memory)")
        #expect(try await daemon.stop().exit == 0)
        #expect(!daemon.leaves.exist)
    }
}
