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
}

private final class Speaker: ReplySpeaker {
    private var pieces: [String]
    private(set) var heard: [String] = []
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

    func becameThrottled(_ isThrottled: Bool) {}
}
