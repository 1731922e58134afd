// Events that are worked on one after the other: a return acknowledges, an error gives back.
import Testing

@testable import WakeHandler

private struct DiskIsFull: Error {}

@Suite("Work on events, one by one")
@MainActor
struct EventProcessingTests {
    private let fed = Fed()
    private func ack(_ sequence: Int) -> String { "{\"ack\":\(sequence),\"result\":\"useful\"}" }

    @Test("each event whose work returns is acknowledged, in order, until the input ends")
    func acknowledges() async throws {
        fed.feed(event(1), event(2), alarm(3))
        fed.session.endInput()
        let seen = Box<[UInt64]>([])
        try await fed.session.process { event in
            await Task.yield()
            seen.value.append(event.sequence)
        }
        #expect(seen.value == [1, 2, 3])
        #expect(fed.answers == [ack(1), ack(2), ack(3)])
    }

    @Test("an event whose work throws is given back, the error is logged, and what follows of its device comes again")
    func givesBack() async throws {
        fed.feed(event(1), event(2), event(3, device: "other"))
        fed.session.endInput()
        try await fed.session.process { if $0.sequence == 1 { throw DiskIsFull() } }
        let (replies, log) = fed.session.drainLines()
        #expect(textLines(replies) == ["{\"nack\":1}", ack(3)])
        #expect(textLines(log) == ["error: strap: DiskIsFull(); it comes again"])
    }

    @Test("what is thrown as a hand-back comes again when its conditions are true")
    func handsBack() async throws {
        fed.feed(alarm(1))
        fed.session.endInput()
        try await fed.session.process { _ in throw HandBack(until: .network) }
        #expect(fed.answers == ["{\"nack\":1,\"until\":[\"network\"]}"])
    }

    @Test("an event that its work finishes itself is not finished again")
    func finishesOtherwise() async throws {
        fed.feed(event(1), event(2), job(3))
        fed.session.endInput()
        let session = fed.session
        try await session.process { event in
            if let task = session.scheduler.task(for: event) { return task.setTaskCompleted(success: true) }
            session.finish(event, event.sequence == 1 ? .nothing : .failed)
        }
        #expect(
            fed.answers == ["{\"ack\":1,\"result\":\"nothing\"}", "{\"ack\":2,\"result\":\"failed\"}", ack(3)])
        #expect(await fed.notices() == [])
    }

    @Test("a flow that began stays open, and its end is acknowledged")
    func leavesFlowsOpen() async throws {
        fed.feed(
            occasion(1, "flow.started", of: "ecg", "{\"name\":\"ecg\"}"), event(2),
            occasion(3, "flow.ended", of: "ecg", "{\"name\":\"ecg\",\"reason\":\"idle\"}"))
        fed.session.endInput()
        try await fed.session.process { _ in }
        #expect(fed.answers == [ack(2), ack(3)])
    }

    @Test("work is cancelled when its time is nearly over, and its event comes again")
    func expires() async throws {
        let session = fed.session
        let processing = Task { try await session.process { _ in try await workWithoutEnd() } }
        fed.feed(event(1))
        await fed.settle()
        fed.feed(expiring("budget", 1))
        await fed.finishWork()
        #expect(fed.answers == ["{\"nack\":1}"])
        session.endInput()
        try await processing.value
    }

    @Test("where the task that processes is cancelled, its work is cancelled too, and that is an error")
    func cancels() async {
        let session = fed.session
        let processing = Task { try await session.process { _ in try await workWithoutEnd() } }
        fed.feed(event(1))
        await fed.settle()
        processing.cancel()
        await #expect(throws: CancellationError.self) { try await processing.value }
        #expect(fed.answers == ["{\"nack\":1}"])
    }

    @Test("what has a closure of its own is not worked on twice")
    func leavesClosuresTheirs() async throws {
        fed.session.alarms.register { _ in .nothing }
        fed.feed(alarm(1), event(2))
        fed.session.endInput()
        let seen = Box<[UInt64]>([])
        try await fed.session.process { seen.value.append($0.sequence) }
        #expect(seen.value == [2])
        #expect(fed.answers == ["{\"ack\":1,\"result\":\"nothing\"}", ack(2)])
    }
}
