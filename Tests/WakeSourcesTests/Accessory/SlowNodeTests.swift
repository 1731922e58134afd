// Devices that keep their drivers waiting: the loop opens, writes to and closes their nodes, and waits for none of them.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel

@testable import WakeSources
@testable import WakeSystem

private let source = "/accessory/2341:0043:A1:00"

/// A node that nobody says anything by, and that takes what is written to it when it pleases.
private final class SlowHandle: NodeHandle {
    let pipe: FileDescriptor
    let device: FileDescriptor
    let delay: UInt32

    init(delay: UInt32) throws(SystemError) {
        let ends = try Pipe(ours: .both).take()
        pipe = FileDescriptor(owningNode: ends.readEnd)
        device = FileDescriptor(owning: ends.writeEnd)
        self.delay = delay
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { SlowNode(self) }
}

private final class SlowNode: OpenNode {
    let handle: SlowHandle
    private(set) var written: [[UInt8]] = []

    init(_ handle: SlowHandle) { self.handle = handle }

    var raw: Int32 { handle.pipe.raw }
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) -> NodeDrain { .empty }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        let (count, first, delay) = (bytes.count, bytes.first, handle.delay)
        return .underWay(
            try Errand {
                usleep(delay)
                return first == 0 ? .failure(SystemError("write to", "it", .timedOut)) : .success(.wrote(count))
            })
    }
}

@Suite("Slow devices")
struct SlowNodeTests {
    /// How long the longest turn of the loop took until `isDone`.
    private func longestTurn(_ bench: AccessoryBench, until isDone: () -> Bool) throws -> TimeSpan {
        var longest = TimeSpan.zero
        let end = SystemClock.monotonic() + .seconds(10)
        while !isDone() {
            let began = SystemClock.monotonic()
            try #require(began < end)
            try bench.loop.runOnce(timeout: .milliseconds(1))
            longest = max(longest, SystemClock.monotonic() - began)
        }
        return longest
    }

    @Test("a driver that takes half a second to open its node keeps nobody waiting")
    func opens() throws {
        let bench = try AccessoryBench()
        let (slow, quick) = (try Gadget(), try Gadget())
        let slowNode = slow.node
        bench.source.openNode = { path, plan throws(SystemError) in
            if path == slowNode { usleep(500_000) }
            return try Nodes.open(path, plan)
        }
        let began = SystemClock.monotonic()
        bench.plug(slow, port: "1", serial: "A1")
        #expect(SystemClock.monotonic() - began < .milliseconds(300))
        bench.plug(quick, port: "2", serial: "B1")
        let longest = try longestTurn(bench) { bench.story("/accessory/2341:0043:B1:00") == ["+"] }
        #expect(longest < .milliseconds(300))
        #expect(bench.story(source) == [])
        #expect(try bench.turn { bench.story(source) == ["+"] })
    }

    @Test("what is unplugged while it is opened is closed when it is open, and never heard")
    func unplugsWhileOpening() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.source.openNode = { path, plan throws(SystemError) in
            usleep(200_000)
            return try Nodes.open(path, plan)
        }
        let before = names(in: "/proc/self/fd").count
        bench.plug(gadget, serial: "A1")
        bench.unplug(serial: "A1")
        try bench.pause(.milliseconds(400))
        #expect(try bench.turn { names(in: "/proc/self/fd").count == before })
        #expect(bench.story() == [])
        // Nobody has it for himself any more either.
        _ = try SerialPort(opening: gadget.node, LineSettings(), isExclusive: true)
    }

    @Test(
        "a device that takes long to take a report keeps nobody waiting; reports are taken in order, each answered once"
    )
    func writes() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.source.openNode = { _, _ throws(SystemError) in try SlowHandle(delay: 300_000) }
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        var answers: [String] = []
        let began = SystemClock.monotonic()
        for first: UInt8 in [1, 0, 2] {
            bench.source.write([first, 9], to: nil, of: source) { result in
                switch result {
                case .success: answers.append("\(first)")
                case .failure: answers.append("\(first) failed")
                }
            }
        }
        #expect(SystemClock.monotonic() - began < .milliseconds(200))
        #expect(try longestTurn(bench) { answers.count == 3 } < .milliseconds(200))
        #expect(answers == ["1", "0 failed", "2"])
        bench.source.write([3], to: nil, of: source) { answers.append((try? $0.get()) == nil ? "gone" : "3") }
        bench.unplug(serial: "A1")
        #expect(answers.last == "gone", "its answer does not wait for a device that is not there")
        try bench.pause(.milliseconds(400))
        #expect(answers.count == 4)
    }
}
