// Descriptor 3 from our side, read by hand: what a line causes while others wait behind it.
import Glibc
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon

@Suite("Replies")
struct ReplyOrderTests {
    @Test("lines are told in their order, although what one causes asks to hear what is there by now")
    func keepsOrder() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let speaker = Speaker(["one\ntwo\n", "three\n"])
        let reader = try ReplyReader(of: ends[0], on: EventLoop(), space: ReadSpace(), speaker: speaker)
        speaker.causes = { reader.hear() }
        reader.hear()
        speaker.causes = {}
        reader.hear()
        #expect(speaker.heard == ["one", "two", "three"])
        reader.stop()
    }

    @Test("who had spent his allowance when he was held back is heard again once he is let go")
    func holdWhileWaiting() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let loop = try EventLoop()
        let burst = String(repeating: "a\n", count: LineAllowance.burst)
        let speaker = Speaker([burst, burst])
        let reader = try ReplyReader(of: ends[0], on: loop, space: ReadSpace(), speaker: speaker)
        while !speaker.isThrottled { reader.hear() }
        #expect(reader.hold())
        var isOver = false
        let later = try loop.timer(on: .monotonic) { isOver = true }
        later.arm(at: SystemClock.monotonic() + .milliseconds(150))
        while !isOver { try loop.runOnce(timeout: .milliseconds(10)) }
        let heard = speaker.heard.count
        reader.release()
        let end = SystemClock.monotonic() + .seconds(2)
        while speaker.heard.count == heard, SystemClock.monotonic() < end {
            try loop.runOnce(timeout: .milliseconds(10))
        }
        #expect(speaker.heard.count > heard)
        reader.stop()
    }
}

private final class Speaker: ReplySpeaker {
    private var pieces: [String]
    private(set) var heard: [String] = []
    private(set) var isThrottled = false
    var causes: () -> Void = {}
    let replyBytesWaiting = 0

    init(_ pieces: [String]) { self.pieces = pieces }

    func readReplies(into bytes: inout [UInt8]) -> ReadResult? {
        guard !pieces.isEmpty else { return .wouldBlock }
        let piece = Array(pieces.removeFirst().utf8)
        bytes.replaceSubrange(..<piece.count, with: piece)
        return .bytes(piece.count)
    }

    func said(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        causes()
        if case .success(let text) = line { heard.append(String(decoding: text, as: UTF8.self)) }
    }

    func becameThrottled(_ isThrottled: Bool) { self.isThrottled = isThrottled }
}
