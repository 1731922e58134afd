// The events of a session as a sequence: taken one by one, finished later, with tasks and requests that are awaited.
import Glibc
import Testing

@testable import WakeHandler

@Suite("Events as a sequence")
@MainActor
struct EventSequenceTests {
    private let session = BackgroundSession(collectingWith: nil)

    private func feed(_ lines: String...) { session.receive(lines.flatMap { Array("\($0)\n".utf8) }) }
    private var answers: [String] { textLines(session.drainLines().replies) }

    /// Until the tasks that were begun wait for something.
    private func settle() async { for _ in 0..<20 { await Task.yield() } }

    @Test("each event is acknowledged when it is finished, and the loop ends with the input")
    func finishes() async {
        feed(event(1), event(2))
        session.endInput()
        var seen: [UInt64] = []
        for await event in session.events {
            seen.append(event.sequence)
            session.finish(event, event.sequence == 1 ? .useful : .nothing)
        }
        #expect(seen == [1, 2])
        #expect(answers == ["{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}"])
    }

    @Test("an event that is never finished is not acknowledged, and holds back those after it")
    func holdsBack() async {
        feed(event(1), event(2))
        session.endInput()
        for await event in session.events where event.sequence == 2 { session.finish(event, .useful) }
        #expect(answers == [])
    }

    @Test("events that wait behind a retry of their device are left out, and come again in order")
    func leavesOut() async {
        feed(event(2), event(3), event(4, device: "other"))
        var seen: [String] = []
        for await event in session.events {
            seen.append("\(event.sequence).\(event.attempt)")
            session.finish(event, event.sequence == 2 && event.attempt == 1 ? .retry(after: .seconds(1)) : .useful)
            guard event.sequence == 4 else { continue }
            feed(WakeHandlerTests.event(2, attempt: 2), WakeHandlerTests.event(3, attempt: 2))
            session.endInput()
        }
        #expect(seen == ["2.1", "4.1", "2.2", "3.2"])
        let answers = answers
        #expect(answers.first == "{\"nack\":2,\"after_s\":1}" && answers.last == "{\"ack\":3,\"result\":\"useful\"}")
    }

    @Test("events that the daemon took back while the process was frozen are not seen any more")
    func forgets() async {
        feed(event(1), event(2), notice("resumed", "{\"frozen_for_ms\":1,\"reason\":\"owed\",\"open\":[2]}"))
        session.endInput()
        var seen: [UInt64] = []
        for await event in session.events { seen.append(event.sequence) }
        #expect(seen == [2])
    }

    @Test("what the process was told at its start is there before the first event")
    func restores() async {
        feed(notice("restored", "{\"reason\":\"data\",\"devices\":[],\"checkpoint\":\"at 7\"}"), event(1))
        session.endInput()
        for await event in session.events {
            #expect(session.restoration?.checkpointText == "at 7" && session.restoration?.reason == .data)
            session.finish(event, .useful)
        }
    }

    @Test("notices are a sequence of their own, also while the handler awaits something else")
    func tellsNotices() async {
        feed(
            notice("expiring", "{\"reason\":\"budget\",\"remaining_ms\":2000,\"tasks\":[],\"open\":[]}"),
            notice("bridge", "{\"condition\":\"adapter-down\",\"detail\":\"00:11\"}"),
            notice("time", "{\"step_ms\":-1500}"), "garbage")
        session.endInput()
        var told: [SessionNotice] = []
        for await notice in session.notices { told.append(notice) }
        #expect(
            told == [
                .expiring(in: .seconds(2), reason: .budget),
                .conditionChanged(.adapterDown, detail: "00:11"), .clockJumped(by: .milliseconds(-1500)),
                .failed(.noEvent),
            ])
    }

    @Test("work in a background task is cancelled when its time is nearly over, and the task is ended")
    func expiresWork() async {
        let work = Task {
            try await session.withBackgroundTask(named: "up") { try await workWithoutEnd() }
        }
        await settle()
        feed(notice("expiring", "{\"reason\":\"extension\",\"remaining_ms\":2000,\"tasks\":[\"up\"],\"open\":[]}"))
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(answers == ["{\"begin\":\"up\",\"ref\":1}", "{\"end\":\"up\"}"])
    }

    @Test("work in a background task gives its value, and the task is ended")
    func completesWork() async throws {
        let value = try await session.withBackgroundTask(named: "up") { 42 }
        #expect(value == 42)
        #expect(answers == ["{\"begin\":\"up\",\"ref\":1}", "{\"end\":\"up\"}"])
    }

    @Test("reads, writes and questions are awaited, and end with an error where the input ends first")
    func awaitsAnswers() async throws {
        let strap = Peripheral(name: "strap", identifier: "/bluetooth/A", profile: nil)
        let reading = Task { try await session.read(from: strap, characteristic: 0x2a38) }
        let asking = Task { await session.timeRemaining() }
        let writing = Task { try await session.write([1], to: strap, characteristic: 0x2a39) }
        await settle()
        feed(
            notice("reply", "{\"device\":\"strap\",\"hex\":\"01\",\"ref\":1}"),
            notice("remaining", "{\"remaining_ms\":500,\"ref\":2}"))
        session.endInput()
        #expect(try await reading.value == [1])
        #expect(await asking.value == .milliseconds(500))
        await #expect(throws: BridgeError.inputEnded) { try await writing.value }
        await #expect(throws: BridgeError.inputEnded) { try await session.read(from: strap, characteristic: 0x2a38) }
    }

    @Test("a loop whose task is cancelled ends")
    func cancels() async {
        let session = session
        let loop = Task { for await _ in session.events {} }
        await settle()
        #expect(session.isWaitingForEvents)
        loop.cancel()
        await loop.value
    }

    /// Finishes each event in a task of its own.
    private final class Patient: PeripheralDelegate {
        func peripheral(
            _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
            in session: BackgroundSession
        ) -> WorkResult {
            Task { session.finish(event, .useful) }
            return .pending
        }
    }

    @Test("a delegate whose events are waited for is called as by run, and its tasks run meanwhile")
    func servesDelegate() async {
        let session = BackgroundSession(collectingWith: Patient())
        let loop = Task { for await _ in session.events { Issue.record("the delegate has it") } }
        await settle()
        session.receive(Array("\(event(1))\n".utf8))
        await settle()
        #expect(textLines(session.drainLines().replies) == ["{\"ack\":1,\"result\":\"useful\"}"])
        session.endInput()
        await loop.value
    }

    @Test("a real session reads its descriptor while the main actor is free for other work")
    func readsApart() async {
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        pipe(&input)
        pipe(&output)
        let session = BackgroundSession(delegate: nil, input: input[0], replies: output[1])
        let loop = Task { for await event in session.events { session.finish(event, .useful) } }
        while !session.isWaitingForEvents { await Task.yield() }
        let text = Array("\(event(1))\n\(event(2))\n".utf8)
        _ = text.withUnsafeBytes { write(input[1], $0.baseAddress, $0.count) }
        close(input[1])
        await loop.value
        close(output[1])
        #expect(textLines(readAll(output[0])) == [1, 2].map { "{\"ack\":\($0),\"result\":\"useful\"}" })
        for descriptor in [input[0], output[0]] { close(descriptor) }
    }
}
