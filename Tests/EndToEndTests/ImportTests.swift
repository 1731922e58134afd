// The import verb on captures of real devices; without the captures these tests are skipped, and say so.
import TestBench
import Testing
import WakeModel

@Suite("Importing captures", .enabled(unless: DeviceCaptures.hindrance))
struct ImportTests {
    private let scratch = Scratch()

    private func imported(_ name: String) async throws -> [String] {
        let output = scratch.file("\(name).trace")
        let outcome = try await Running(
            [Built.tool, "import", DeviceCaptures.btsnoop(name), "-o", output], in: scratch
        ).end()
        #expect(outcome.exit == 0, "\(outcome.talk)")
        return lines(of: output)
    }

    private func data(_ trace: [String]) -> [(characteristic: String, bytes: [UInt8])] {
        trace.compactMap { line in
            let fields = line.split(separator: " ").map(String.init)
            guard line.hasPrefix("+"), fields.count > 4, fields[2] == "data" else { return nil }
            return [UInt8](hexadecimal: fields[4...].joined()).map { (fields[3], $0) }
        }
    }

    @Test("the Domyos treadmill gives 1030 notifications of one characteristic, whose 522 frames all check")
    func domyos() async throws {
        let data = data(try await imported("domyos-treadmill"))
        #expect(data.count == 1030)
        #expect(Set(data.map(\.characteristic)).count == 1)
        var frames: [[UInt8]] = []
        for notification in data {
            if notification.bytes.first == 0xf0 { frames.append([]) }
            if !frames.isEmpty { frames[frames.count - 1] += notification.bytes }
        }
        #expect(frames.count == 522)
        #expect(frames.allSatisfy { $0.last == $0.dropLast().reduce(0) { $0 &+ $1 } })
    }

    @Test("the Horizon treadmill gives 786 and 261 notifications of two characteristics")
    func horizon() async throws {
        let data = data(try await imported("horizon-treadmill"))
        let counts = Dictionary(grouping: data, by: \.characteristic).mapValues(\.count).values.sorted()
        #expect(counts == [261, 786])
    }

    @Test("a capture without any link gives an empty trace and exit 0")
    func nearEmpty() async throws {
        let trace = try await imported("near-empty-monitor")
        #expect(trace.first == "wakebridge-trace 1")
        #expect(!trace.contains { $0.hasPrefix("+") })
    }

    @Test("an imported trace plays: every notification is acknowledged")
    func plays() async throws {
        _ = try await imported("horizon-treadmill")
        let outcome = try await Running(
            [Built.tool, "replay", scratch.file("horizon-treadmill.trace"), "--speed", "max"], in: scratch
        ).end()
        #expect(outcome.exit == 0)
        #expect(outcome.lines.count { $0.contains("wakebridge.device.data") } == 1047)
    }

    @Test("a file cut anywhere is an error with the offset and exit 1, or with --partial the part before it")
    func cut() async throws {
        let whole = bytes(of: DeviceCaptures.btsnoop("domyos-treadmill"))
        let all = data(try await imported("domyos-treadmill"))
        for length in [7, 16, 20, whole.count / 3, whole.count / 2 + 1, whole.count - 1] {
            let file = scratch.write(Array(whole.prefix(length)), to: "cut.btsnoop")
            let refused = try await Running([Built.tool, "import", file], in: scratch).end()
            #expect(refused.exit == (length == 16 ? 0 : 1), "cut after \(length) bytes: \(refused.talk)")
            if length > 16 { #expect(refused.talk.contains("at byte ")) }
            guard length > 16 else { continue }
            let part = try await Running([Built.tool, "import", file, "--partial"], in: scratch).end()
            #expect(part.exit == 0)
            let kept = data(part.lines)
            #expect(kept.count <= all.count)
            #expect(kept.map(\.bytes) == all.prefix(kept.count).map(\.bytes))
        }
    }
}
