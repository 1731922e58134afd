// What was recorded of an accessory becomes the messages that an open node would have made of it.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Recorded nodes")
struct RecordedNodeTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    /// A key goes down and up, in the form of event lines.
    private func stroke(_ code: UInt8) -> [[UInt8]] { [1, 0].map { [1, 0, code, 0, $0, 0, 0, 0] } }

    @Test("a line is cut by its framing, and what is left at the end is a fragment")
    func framed() throws {
        var node = try #require(RecordedNode(AccessoryPlan(node: .serial, framing: .line)))
        #expect(node.append(Array("ab\ncd".utf8), at: at(1)).map(\.bytes) == [Array("ab".utf8)])
        let rest = node.end()
        #expect(rest.map(\.channel) == [.fragment(.cutShort)] && rest.map(\.bytes) == [Array("cd".utf8)])
    }

    @Test("messages that a silence ends are cut by the times of the recording")
    func silence() throws {
        var node = try #require(RecordedNode(AccessoryPlan(node: .serial, framing: .idle(.milliseconds(50)))))
        #expect(node.append([1], at: at(0)).isEmpty)
        #expect(node.append([2], at: at(40)).isEmpty)
        #expect(node.append([3], at: at(100)).map(\.bytes) == [[1, 2]])
        #expect(node.end().map(\.bytes) == [[3]])
    }

    @Test("what a device types is one message up to Enter, and what the silence ends is another")
    func typed() throws {
        var node = try #require(RecordedNode(AccessoryPlan(node: .input, typingPause: .milliseconds(200))))
        var made: [[UInt8]] = []
        for (place, batch) in (stroke(5) + stroke(11) + stroke(28)).enumerated() {
            made += node.append(batch, at: at(Int64(place) * 2)).map(\.bytes)
        }
        #expect(made == [Array((stroke(5) + stroke(11) + [stroke(28)[0]]).joined())])
        #expect(node.append(stroke(6)[0], at: at(1_000)).isEmpty)
        #expect(node.append(stroke(7)[0], at: at(2_000)).count == 1)
        #expect(node.end().map(\.bytes) == [stroke(7)[0]])
    }

    @Test(
        "where a plan makes nothing of its own, there is no node",
        arguments: [AccessoryNode.hid, .none, .input, .serial])
    func plain(node: AccessoryNode) { #expect(RecordedNode(AccessoryPlan(node: node)) == nil) }
}
