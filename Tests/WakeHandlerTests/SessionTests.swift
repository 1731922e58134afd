// The library for handler authors, over pipes, with no bridge.
import Glibc
import Testing

@testable import WakeHandler

func event(
    _ sequence: Int, type: String = "data", device: String = "strap", attempt: Int = 1, data: String? = nil,
    authenticated: Bool? = nil
) -> String {
    let content =
        data
        ?? "{\"profile\":\"heart-rate-monitor\",\"characteristic\":\"2a37\",\"value\":{\"bpm\":73},\"raw\":\"1049\"}"
    return "{\"specversion\":\"1.0\",\"id\":\"j1-\(sequence)\",\"source\":\"/bluetooth/\(device)\","
        + "\"type\":\"wakebridge.device.\(type)\",\"subject\":\"\(device)\",\"time\":\"2026-11-21T07:42:46.727125Z\","
        + "\"datacontenttype\":\"application/json\",\(authenticated.map { "\"authenticated\":\($0)," } ?? "")\"seq\":\(sequence),\"attempt\":\(attempt),\"budgetms\":10000,\"data\":\(content)}"
}

func notice(_ type: String, _ data: String) -> String {
    "{\"specversion\":\"1.0\",\"id\":\"n1\",\"source\":\"/wakebridge\",\"type\":\"wakebridge.\(type)\",\"data\":\(data)}"
}

/// Writes down what it is told, and answers as the test says.
private final class Recorder: PeripheralDelegate {
    var told: [String] = []
    var answer: (BackgroundEvent, BackgroundSession) -> WorkResult = { _, _ in .useful }

    private func note(_ text: String, _ event: BackgroundEvent, _ session: BackgroundSession) -> WorkResult {
        told.append("\(text) \(event.sequence)")
        return answer(event, session)
    }
    func peripheralDidConnect(
        _ peripheral: Peripheral, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { note("connect", event, session) }
    func peripheralDidDisconnect(
        _ peripheral: Peripheral, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { note("disconnect(\(reason))", event, session) }
    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { note("data(\(data.value?["bpm"]?.integer ?? -1),\(data.bytes))", event, session) }
    func peripheral(
        _ peripheral: Peripheral, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { note("gap(\(gap.cause),\(gap.count ?? -1))", event, session) }
    func peripheral(
        _ peripheral: Peripheral, needsAttention kind: AttentionKind, detail: String?, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { note("attention(\(kind))", event, session) }
    func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {
        told.append(
            "restored(\(restoration.reason),\(restoration.checkpointText ?? "-"),\(restoration.peripherals.map(\.name)))"
        )
    }
    func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: WakeReason) {
        told.append("resumed(\(frozen))")
    }
    func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: ExpirationReason) {
        told.append("expire(\(reason))")
    }
    func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: TerminationReason) {
        told.append("terminate(\(remaining))")
    }
    func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: MemoryLevel) {
        told.append("memory(\(level))")
    }
    func session(_ session: BackgroundSession, didFailWith error: BridgeError) { told.append("error(\(error.code))") }
}

@Suite("A handler's session")
@MainActor
struct SessionTests {
    private let recorder = Recorder()

    @Test("every event reaches its callback and is acknowledged after it returns")
    func deliversEvents() {
        let gap = "{\"device\":\"strap\",\"cause\":\"link\",\"count\":null,\"from\":\"a\",\"to\":\"b\"}"
        let lines = [
            event(1, type: "connected", data: "{}"), event(2), event(3, type: "gap", data: gap),
            event(4, type: "attention", data: "{\"kind\":\"pairing\"}"),
            event(5, type: "disconnected", data: "{\"reason\":\"remote-user\"}"),
            event(6, type: "of-tomorrow", data: "{}"),
        ]
        let answers = replies(of: recorder, to: lines)
        #expect(
            recorder.told == [
                "connect 1", "data(73,[16, 73]) 2", "gap(link,-1) 3", "attention(pairing) 4",
                "disconnect(remote-user) 5",
            ])
        #expect(
            answers == (1...5).map { "{\"ack\":\($0),\"result\":\"useful\"}" } + ["{\"ack\":6,\"result\":\"nothing\"}"])
    }

    @Test("an event says whether a bond proved its device, and one of a bridge that does not know says that none did")
    func tellsProof() {
        var said: [Bool] = []
        recorder.answer = { event, _ in
            said.append(event.isAuthenticated)
            return .useful
        }
        _ = replies(of: recorder, to: [event(1, authenticated: true), event(2, authenticated: false), event(3)])
        #expect(said == [true, false, false])
    }

    @Test("launch, thaw, expiry and the end of the process are reported")
    func tellsNotices() {
        let answers = replies(
            of: recorder,
            to: [
                notice(
                    "restored",
                    "{\"reason\":\"event\",\"devices\":[{\"device\":\"strap\",\"source\":\"/bluetooth/A\",\"connected\":true}],\"checkpoint\":\"c\"}"
                ),
                notice("resumed", "{\"frozen_for_ms\":1500,\"reason\":\"event\",\"open\":[1]}"),
                notice("expiring", "{\"reason\":\"budget\",\"remaining_ms\":2000,\"tasks\":[],\"open\":[]}"),
                notice("terminating", "{\"reason\":\"stop\",\"in_ms\":5000}"), notice("memory", "{\"level\":\"some\"}"),
                notice("of-tomorrow", "{}"), "garbage", notice("error", "{\"code\":\"not-open\"}"),
            ])
        #expect(
            recorder.told == [
                "restored(event,c,[\"strap\"])", "resumed(1.5 seconds)", "expire(budget)", "terminate(5.0 seconds)",
                "memory(some)", "error(malformed)", "error(not-open)",
            ])
        #expect(answers.isEmpty)
    }

    @Test("an acknowledgement waits for the events before it that are still pending")
    func holdsAcknowledgements() {
        var first: BackgroundEvent?
        recorder.answer = { event, session in
            if event.sequence == 1 { first = event }
            if event.sequence == 4, let first { session.finish(first, .useful) }
            return event.sequence == 1 ? .pending : .useful
        }
        #expect(
            replies(of: recorder, to: (1...4).map { event($0) }) == [
                "{\"ack\":3,\"result\":\"useful\"}", "{\"ack\":4,\"result\":\"useful\"}",
            ])
    }

    @Test("a retry gives the event back, and what follows of its device waits for it")
    func givesBack() {
        recorder.answer = { event, _ in
            event.sequence == 2 && event.attempt == 1 ? .retry(after: .milliseconds(1500)) : .useful
        }
        let lines = [
            event(1), event(2), event(3), event(4, device: "other"), event(2, attempt: 2), event(3, attempt: 2),
        ]
        #expect(
            replies(of: recorder, to: lines) == [
                "{\"ack\":1,\"result\":\"useful\"}", "{\"nack\":2,\"after_s\":1.5}",
                "{\"ack\":4,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"useful\"}",
                "{\"ack\":3,\"result\":\"useful\"}",
            ])
        #expect(recorder.told.map { $0.last } == ["1", "2", "4", "2", "3"])
    }

    private func gap(_ sequence: Int, from: String, to: String) -> String {
        event(sequence, type: "gap", data: "{\"cause\":\"overflow\",\"from\":\"\(from)\",\"to\":\"\(to)\"}")
    }

    @Test("a gap that covers a refused event ends the wait for it, because it may report its loss")
    func stopsWaiting() {
        recorder.answer = { event, _ in event.sequence == 2 ? .retry(after: nil) : .useful }
        let lost = gap(9, from: "2026-11-21T07:42:46.727125Z", to: "2026-11-21T07:42:46.727125Z")
        let answers = replies(of: recorder, to: [event(2), event(3), lost, event(10)])
        #expect(answers == ["{\"nack\":2}", "{\"ack\":9,\"result\":\"useful\"}", "{\"ack\":10,\"result\":\"useful\"}"])
    }

    @Test("a gap of another time does not end the wait, so no acknowledgement covers an event that was refused")
    func waitsBehindOtherGaps() {
        recorder.answer = { event, _ in event.sequence == 2 && event.attempt == 1 ? .retry(after: nil) : .useful }
        let before = gap(9, from: "2026-11-21T07:42:40Z", to: "2026-11-21T07:42:46Z")
        let after = gap(10, from: "2026-11-21T07:42:47Z", to: "2026-11-21T07:42:48Z")
        let answers = replies(
            of: recorder,
            to: [event(2), event(3), before, after, event(11), event(2, attempt: 2), event(3, attempt: 2)])
        #expect(
            answers == ["{\"nack\":2}", "{\"ack\":2,\"result\":\"useful\"}", "{\"ack\":3,\"result\":\"useful\"}"])
    }

    @Test("that the link went down is told behind a nack too, and the wait goes on")
    func linkDown() {
        recorder.answer = { event, _ in event.sequence == 2 && event.attempt == 1 ? .retry(after: nil) : .useful }
        let linkDown = event(9, type: "attention", data: "{\"kind\":\"link-down\"}")
        let answers = replies(
            of: recorder, to: [event(2), linkDown, event(3), event(2, attempt: 2), event(3, attempt: 2)])
        #expect(
            answers == [
                "{\"nack\":2}", "{\"ack\":9,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"useful\"}",
                "{\"ack\":3,\"result\":\"useful\"}",
            ])
        #expect(recorder.told[1] == "attention(link-down) 9" && recorder.told.count == 4)
    }

    @Test("a pending event that the bridge took back or gives again holds nothing up")
    func forgetsTakenBack() {
        recorder.answer = { event, _ in event.attempt == 1 && event.sequence != 2 ? .pending : .useful }
        let thaw = notice("resumed", "{\"frozen_for_ms\":1,\"reason\":\"event\",\"open\":[2]}")
        #expect(replies(of: recorder, to: [event(1), event(2), thaw]) == ["{\"ack\":2,\"result\":\"useful\"}"])
        #expect(replies(of: recorder, to: [event(1), event(1, attempt: 2)]) == ["{\"ack\":1,\"result\":\"useful\"}"])
    }

    @Test("a task is begun, ended once, and gets a name of its own")
    func runsTasks() {
        recorder.answer = { _, session in
            let tasks = [session.beginBackgroundTask(named: "up"), session.beginBackgroundTask(named: "up")]
            for task in tasks + tasks { task.end() }
            return .useful
        }
        #expect(
            replies(of: recorder, to: [event(1)]) == [
                "{\"begin\":\"up\",\"ref\":1}", "{\"begin\":\"up#2\",\"ref\":2}", "{\"end\":\"up\"}",
                "{\"end\":\"up#2\"}",
                "{\"ack\":1,\"result\":\"useful\"}",
            ])
    }

    @Test("the expiration closure of an open task is called once, before the delegate, and may end the task")
    func expiresTasks() {
        var task: BackgroundTask?
        recorder.answer = { [recorder] _, session in
            task = session.beginBackgroundTask(named: "up") {
                recorder.told.append("expired")
                task?.end()
            }
            return .useful
        }
        let expiring = notice("expiring", "{\"reason\":\"pool\",\"remaining_ms\":2000,\"tasks\":[\"up\"],\"open\":[]}")
        let answers = replies(of: recorder, to: [event(1), expiring, expiring])
        #expect(recorder.told.dropFirst() == ["expired", "expire(pool)", "expire(pool)"])
        #expect(answers == ["{\"begin\":\"up\",\"ref\":1}", "{\"ack\":1,\"result\":\"useful\"}", "{\"end\":\"up\"}"])
    }

    @Test("a task that goes on after its expiration is warned once and can still be ended")
    func warnsOnce() {
        var task: BackgroundTask?
        recorder.answer = { [recorder] event, session in
            if event.sequence == 2 { task?.end() }
            if event.sequence == 1 {
                task = session.beginBackgroundTask(named: "up") { recorder.told.append("expired") }
            }
            return .useful
        }
        let expiring = notice("expiring", "{\"reason\":\"pool\",\"remaining_ms\":2000,\"tasks\":[\"up\"],\"open\":[]}")
        let answers = replies(of: recorder, to: [event(1), expiring, expiring, event(2)])
        #expect(recorder.told.filter { $0 == "expired" }.count == 1)
        #expect(answers.contains("{\"end\":\"up\"}"))
    }

    @Test("a task that the bridge refuses expires at once and is not ended")
    func refusesTasks() {
        var task: BackgroundTask?
        recorder.answer = { [recorder] _, session in
            task = session.beginBackgroundTask(named: "up") {
                recorder.told.append("expired")
                task?.end()
            }
            return .useful
        }
        let answers = replies(
            of: recorder, to: [event(1), notice("error", "{\"code\":\"no-extension-left\",\"ref\":1}")])
        #expect(recorder.told.last == "expired")
        #expect(answers == ["{\"begin\":\"up\",\"ref\":1}", "{\"ack\":1,\"result\":\"useful\"}"])
    }

    @Test("answers to requests find their closures")
    func answersRequests() {
        var results: [String] = []
        let lines = [
            notice("reply", "{\"device\":\"strap\",\"ref\":1}"),
            notice("reply", "{\"device\":\"strap\",\"hex\":\"ff\",\"ref\":2}"),
            notice("error", "{\"code\":\"replayed\",\"ref\":3}"),
            notice("remaining", "{\"remaining_ms\":500,\"ref\":4}"),
        ]
        let answers = replies(of: recorder, to: lines) { session in
            let strap = Peripheral(name: "strap", identifier: "/bluetooth/A", profile: nil)
            let sensor = Accessory(name: "sensor", identifier: "/accessory/B", profile: nil)
            session.write([1], to: strap, characteristic: 0x2a39) { results.append("\($0.map { "written" })") }
            session.read(from: sensor) { results.append("\($0)") }
            session.read(from: sensor) { if case .failure(let error) = $0 { results.append(error.code.word) } }
            session.requestTimeRemaining { results.append("\($0)") }
        }
        #expect(results == ["success(\"written\")", "success([255])", "replayed", "0.5 seconds"])
        #expect(
            answers.first == "{\"write\":{\"device\":\"strap\",\"characteristic\":\"2a39\",\"hex\":\"01\"},\"ref\":1}")
        #expect(answers.last == "{\"remaining\":true,\"ref\":4}")
        #expect(recorder.told.isEmpty)
    }

    @Test("the time that remains follows what the bridge last said")
    func estimatesTime() {
        var remaining: [Duration?] = []
        recorder.answer = { _, session in
            remaining.append(session.backgroundTimeRemaining)
            return .useful
        }
        _ = replies(of: recorder, to: [event(1)]) { remaining.append($0.backgroundTimeRemaining) }
        #expect(remaining.first == .some(nil))
        #expect((remaining.last ?? nil).map { (.seconds(9)...Duration.seconds(10)).contains($0) } == true)
    }

    @Test("a checkpoint stands before the acknowledgement that it belongs to")
    func keepsCheckpoint() {
        recorder.answer = { _, session in
            session.checkpoint(text: "at 1")
            return .nothing
        }
        #expect(
            replies(of: recorder, to: [event(1)]) == [
                "{\"checkpoint\":\"at 1\"}", "{\"ack\":1,\"result\":\"nothing\"}",
            ])
    }

    @Test("replies of a program without descriptor 3 never go into a file that it opens later")
    func leavesOtherFilesAlone() {
        let number: Int32 = 200
        var output = OutputDescriptor(number)
        let path = "\(temporaryDirectory())/mine"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        dup2(file, number)
        output.write([1, 2, 3])
        #expect(fileLines(path).isEmpty)
        close(number)
        close(file)
    }
}
