// Devices that keep their drivers waiting: the loop opens, writes to and closes their nodes, and waits for none of them.
import Glibc
import Synchronization
import TestBench
import Testing
import WakeLoop
import WakeModel

@testable import WakeSources
@testable import WakeSystem

private let source = "/accessory/2341:0043:A1:00"

/// Where drivers wait for their device. A loop that waits with them does not come to let them pass, and stands still until they
/// have lost their patience: no clock is needed to tell.
private final class Gate: Sendable {
    private struct HandlerStatus {
        var permits = 0
        var waiting = 0
        var isForced = false
    }

    private let standing = Mutex(HandlerStatus())

    /// Somebody stands before it.
    var isWaitedAt: Bool { standing.withLock { $0.waiting > 0 } }
    /// Somebody stood before it for so long that nobody will ever let him pass.
    var isForced: Bool { standing.withLock { $0.isForced } }

    func letPass(_ count: Int = 1) { standing.withLock { $0.permits += count } }

    func pass() {
        standing.withLock { $0.waiting += 1 }
        if !Patience.wait(.seconds(5), until: { mayPass() }) {
            standing.withLock { standing in
                standing.isForced = true
                standing.waiting -= 1
            }
        }
    }

    private func mayPass() -> Bool {
        standing.withLock { standing in
            guard standing.permits > 0 else { return false }
            standing.permits -= 1
            standing.waiting -= 1
            return true
        }
    }
}

/// A node that nobody says anything by, and that takes what is written to it when it pleases.
private final class SlowHandle: NodeHandle {
    let pipe: FileDescriptor
    let device: FileDescriptor
    let gate: Gate

    init(_ gate: Gate) throws(SystemError) {
        let ends = try Pipe(ours: .both).releaseEnds()
        pipe = FileDescriptor(owningNode: ends.readEnd)
        device = FileDescriptor(owning: ends.writeEnd)
        self.gate = gate
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { SlowNode(self) }
}

private final class SlowNode: OpenNode {
    let handle: SlowHandle
    private(set) var wireName: [[UInt8]] = []

    init(_ handle: SlowHandle) { self.handle = handle }

    var raw: Int32 { handle.pipe.raw }
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) -> NodeDrain { .empty }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        let (count, first, gate) = (bytes.count, bytes.first, handle.gate)
        return .underWay(
            try BackgroundJob {
                gate.pass()
                return first == 0 ? .failure(SystemError("write to", "it", .timedOut)) : .success(.wrote(count))
            })
    }
}

/// A node that is writable, and refuses what it put off.
private final class StubbornHandle: NodeHandle {
    let pipe: FileDescriptor
    private let device: FileDescriptor

    init() throws(SystemError) {
        let ends = try Pipe(ours: .both).releaseEnds()
        pipe = FileDescriptor(owningNode: ends.writeEnd)
        device = FileDescriptor(owning: ends.readEnd)
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { StubbornNode(self) }
}

private final class StubbornNode: OpenNode {
    private let handle: StubbornHandle
    private var isAsked = false

    init(_ handle: StubbornHandle) { self.handle = handle }

    var raw: Int32 { handle.pipe.raw }
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) -> NodeDrain { .empty }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        guard isAsked else {
            isAsked = true
            return .wouldBlock
        }
        throw SystemError("write to", "it", Errno(code: EIO))
    }
}

/// Whether this process has it open.
private func isOpen(_ node: String) -> Bool {
    names(in: "/proc/self/fd").contains { (try? File.linkTarget(of: "/proc/self/fd/\($0)")) == node }
}

@Suite("Slow devices")
struct SlowNodeTests {
    @Test("a driver that takes its time to open its node does not block the bridge")
    func opens() throws {
        let bench = try AccessoryBench()
        let (slow, quick, gate) = (try Gadget(), try Gadget(), Gate())
        let slowNode = slow.node
        bench.source.files = NodeFiles(on: bench.loop) { path, plan throws(SystemError) in
            if path == slowNode { gate.pass() }
            return try NodeFiles.node(path, plan)
        }
        bench.plug(slow, port: "1", serial: "A1")
        bench.plug(quick, port: "2", serial: "B1")
        #expect(try bench.turn { bench.story("/accessory/2341:0043:B1:00") == ["+"] })
        quick.say("one\n")
        #expect(try bench.turn { bench.story("/accessory/2341:0043:B1:00") == ["+", ":one"] })
        #expect(gate.isWaitedAt && !gate.isForced && bench.story(source) == [])
        gate.letPass()
        #expect(try bench.turn { bench.story(source) == ["+"] })
    }

    @Test("what a device refuses after it was put off is answered so, and its node stays open")
    func refusesLater() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.source.files = NodeFiles(on: bench.loop) { _, _ throws(SystemError) in try StubbornHandle() }
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        var answer: String?
        bench.source.write([1], to: nil, of: source) { result in
            if case .failure(let failure) = result { answer = "\(failure)" } else { answer = "taken" }
        }
        #expect(answer == nil)
        #expect(try bench.turn { answer != nil })
        #expect(answer?.contains("Input/output error") == true, "\(answer ?? "none")")
        try bench.pause(.milliseconds(50))
        #expect(bench.story() == ["+"])
    }

    @Test("what is unplugged while it is opened is closed when it is open, and never heard")
    func unplugsWhileOpening() throws {
        let bench = try AccessoryBench()
        let (gadget, gate) = (try Gadget(), Gate())
        bench.source.files = NodeFiles(on: bench.loop) { path, plan throws(SystemError) in
            gate.pass()
            return try NodeFiles.node(path, plan)
        }
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { gate.isWaitedAt })
        bench.unplug(serial: "A1")
        gate.letPass()
        try bench.pause(.milliseconds(100))
        #expect(try bench.turn { !gate.isWaitedAt && !isOpen(gadget.node) })
        #expect(bench.story() == [] && !gate.isForced)
        // Nobody has it for himself any more either.
        _ = try SerialPort(opening: gadget.node, LineSettings(), isExclusive: true)
    }

    @Test(
        "a device that takes long to accept a report does not block the bridge; reports go in order, each answered once"
    )
    func writes() throws {
        let bench = try AccessoryBench()
        let (gadget, gate) = (try Gadget(), Gate())
        bench.source.files = NodeFiles(on: bench.loop) { _, _ throws(SystemError) in try SlowHandle(gate) }
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        var answers: [String] = []
        for first: UInt8 in [1, 0, 2] {
            bench.source.write([first, 9], to: nil, of: source) { result in
                switch result {
                case .success: answers.append("\(first)")
                case .failure: answers.append("\(first) failed")
                }
            }
        }
        for answered in [["1"], ["1", "0 failed"], ["1", "0 failed", "2"]] {
            #expect(try bench.turn { gate.isWaitedAt })
            try bench.pause(.milliseconds(20))
            #expect(answers == answered.dropLast() && !gate.isForced, "the loop turned, and nobody was answered")
            gate.letPass()
            #expect(try bench.turn { answers == answered })
        }
        bench.source.write([3], to: nil, of: source) { answers.append((try? $0.get()) == nil ? "gone" : "3") }
        #expect(try bench.turn { gate.isWaitedAt })
        bench.unplug(serial: "A1")
        #expect(answers.last == "gone", "its answer does not wait for a device that is not there")
        gate.letPass()
        #expect(try bench.turn { !gate.isWaitedAt })
        try bench.pause(.milliseconds(50))
        #expect(answers.count == 4 && !gate.isForced)
    }
}
