// What devices say that is no message, and devices that fail while they speak: all of it is told, and the source goes on.
import Glibc
import Synchronization
import TestBench
import Testing
import WakeModel

@testable import WakeSources
@testable import WakeSystem

private let source = "/accessory/2341:0043:A1:00"

/// What a device says that a framing cannot make a message of, and how that is called.
struct Spoilt: Sendable, CustomTestStringConvertible {
    let framing: Framing
    let fragment: Fragment
    /// One piece as it is to be told.
    let piece: [UInt8]
    /// What brings it to its end.
    var end: [UInt8] = []
    /// Pieces that come of both.
    var count = 1
    /// A message, with its framing.
    let good: [UInt8]

    var testDescription: String { "\(framing), \(fragment)" }

    private static let packets = Framing.lengthPrefix(.init(start: [0xaa], offset: 1, size: 1, endian: .big, extra: 2))

    static let all = [
        Spoilt(
            framing: .line, fragment: .tooLong, piece: Array("0123456789abcdef".utf8),
            end: Array("0123456789abcdef\n".utf8), count: 2, good: Array("ok\n".utf8)),
        Spoilt(
            framing: .slip, fragment: .badEscape, piece: [1, 0xdb, 2], end: [0xc0], good: Array("ok".utf8) + [0xc0]),
        Spoilt(framing: .cobs, fragment: .badCode, piece: [9, 1, 2], end: [0], good: [3] + Array("ok".utf8) + [0]),
        Spoilt(framing: packets, fragment: .badLength, piece: [0xaa, 0xff, 7], good: [0xaa, 2] + Array("ok".utf8)),
        Spoilt(framing: packets, fragment: .noStart, piece: [1, 2, 3], good: [0xaa, 2] + Array("ok".utf8)),
    ]
}

/// A device whose node breaks while it is read, by what the system answers then; a sound one stands there again afterwards.
private final class BreakingHandle: NodeHandle {
    let pipe: FileDescriptor
    private let device: FileDescriptor
    let error: Errno?

    init(_ error: Errno?) throws(SystemError) {
        let ends = try Pipe(ours: .both).releaseEnds()
        pipe = FileDescriptor(owningNode: ends.readEnd)
        device = FileDescriptor(owning: ends.writeEnd)
        self.error = error
        _ = try device.write([1])
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { BreakingNode(self) }
}

private final class BreakingNode: OpenNode {
    private let handle: BreakingHandle
    private var isRead = false

    init(_ handle: BreakingHandle) { self.handle = handle }

    var raw: Int32 { handle.pipe.raw }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain {
        guard !isRead else { return .empty }
        isRead = true
        tell(.data(.report(0), Array((handle.error == nil ? "sound" : "last").utf8)), now)
        if let error = handle.error { throw SystemError("read", "it", error) }
        return .empty
    }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) -> NodeWriting { .gone }
}

@Suite("What is no message")
struct SpoiltInputTests {
    private func attentions(_ bench: AccessoryBench) -> [String] {
        bench.told.compactMap { event in
            if case .attention(.undecodable, let detail) = event.kind { detail } else { nil }
        }
    }

    private func data(_ bench: AccessoryBench, _ channel: Channel) -> [[UInt8]] {
        bench.told.compactMap { event in
            if case .data(channel, let bytes) = event.kind { bytes } else { nil }
        }
    }

    @Test(
        "comes as it is, each piece, told of once in ten seconds with how many there were; messages about it are heard",
        arguments: Spoilt.all)
    func babbles(_ spoilt: Spoilt) throws {
        let bench = try AccessoryBench()
        bench.plan.framing = spoilt.framing
        bench.plan.frameLimit = spoilt.framing == .line ? spoilt.piece.count : 64
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        for number in 1...30 {
            gadget.say(spoilt.piece + spoilt.end + spoilt.good)
            #expect(try bench.turn { data(bench, .serial).count == number })
        }
        #expect(attentions(bench).count == 1)
        let told = try #require(bench.source.watched[source]?.spoilt.reportedAt)
        for (seconds, attentionCount) in [(5, 1), (10, 2)] as [(Int64, Int)] {
            bench.source.watched[source]?.spoilt.reportedAt = told - .seconds(seconds)
            let heard = data(bench, .serial).count
            gadget.say(spoilt.piece + spoilt.end + spoilt.good)
            #expect(try bench.turn { data(bench, .serial).count == heard + 1 })
            #expect(attentions(bench).count == attentionCount, "after \(seconds) s")
        }
        #expect(
            attentions(bench).last?.hasSuffix("; \(31 * spoilt.count) pieces like it since the last report") == true)
        #expect(data(bench, .fragment(spoilt.fragment)) == [[UInt8]](repeating: spoilt.piece, count: 32 * spoilt.count))
        #expect(data(bench, .serial).allSatisfy { $0.suffix(2).elementsEqual("ok".utf8) })
    }

    @Test("half of it is told as what it is when the line hangs up amid it, and the next visit begins again")
    func hangsUp() throws {
        let bench = try AccessoryBench()
        let (gadget, again) = (try Gadget(), try Gadget())
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        gadget.say("whole\nhal")
        #expect(try bench.turn { bench.story() == ["+", ":whole"] })
        gadget.hangUp()
        #expect(try bench.turn { bench.story() == ["+", ":whole", "!undecodable", ":hal", "-hung-up"] })
        bench.unplug(serial: "A1")
        bench.plug(again, serial: "A1")
        #expect(try bench.turn { bench.story().last == "+" })
        again.say("f\n")
        #expect(try bench.turn { bench.story().last == ":f" })
    }

    @Test("what was read before the node broke is told, and the node is opened again", arguments: [EIO, ENODEV, EPIPE])
    func breaks(code: Int32) throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        let opened = Mutex(0)
        bench.source.files = NodeFiles(on: bench.loop) { _, _ throws(SystemError) in
            let count = opened.withLock { count in
                count += 1
                return count
            }
            return try BreakingHandle(count == 1 ? Errno(code: code) : nil)
        }
        NodeClosing.wait(atMost: .seconds(1))
        let before = names(in: "/proc/self/fd").count
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story().last == ":sound" })
        #expect(bench.story() == ["+", ":last", "-hung-up", "gap", "+", ":sound"])
        bench.unplug(serial: "A1")
        #expect(try bench.turn { names(in: "/proc/self/fd").count <= before })
    }
}
