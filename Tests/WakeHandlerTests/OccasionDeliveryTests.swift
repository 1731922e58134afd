// Occasions in a session: to registered closures, to the delegate, and in the sequence of events.
import Testing

@testable import WakeHandler

/// Writes down what it is told, and answers as the test says.
private final class Recorder: BackgroundSessionDelegate {
    var told: [String] = []
    var tasks: [ScheduledTask] = []
    var result = WorkResult.useful

    func session(
        _ session: BackgroundSession, alarmDidFire alarm: FiredAlarm, for event: BackgroundEvent
    ) -> WorkResult {
        told.append("alarm \(alarm.identifier) \(event.sequence)")
        return result
    }
    func session(
        _ session: BackgroundSession, performFetch fetch: DueFetch, for event: BackgroundEvent
    ) -> WorkResult {
        told.append("fetch \(fetch.interval) \(event.sequence)")
        return result
    }
    func session(_ session: BackgroundSession, taskIsDue task: ScheduledTask) -> WorkResult {
        told.append("task \(task.identifier) \(task.event.sequence)")
        tasks.append(task)
        return result
    }
    func session(
        _ session: BackgroundSession, regionDidChange change: RegionChange, for event: BackgroundEvent
    ) -> WorkResult {
        told.append("region \(change.identifier) \(change.isEntered) \(change.isInitial)")
        return result
    }
    func session(
        _ session: BackgroundSession, didReceiveRemoteNotification message: ReceivedMessage, for event: BackgroundEvent
    ) -> WorkResult {
        told.append("\(message.urgency) \(message.topic ?? "-") \(message.text ?? "no text") \(message.collapsed)")
        return result
    }
    func session(_ session: BackgroundSession, storageAt path: String, isAvailable: Bool) {
        told.append("storage \(path) \(isAvailable)")
    }
    func session(_ session: BackgroundSession, didFailWith error: BridgeError) { told.append("error \(error.code)") }
}

private final class Silent: BackgroundSessionDelegate {}

@Suite("Alarms, polls and jobs in a session")
@MainActor
struct OccasionDeliveryTests {
    @Test("a delegate gets what no closure is registered for, and its result finishes it")
    func delegates() {
        let recorder = Recorder()
        let fed = Fed(recorder)
        fed.session.alarms.register(forAlarmWithIdentifier: "tea") { _ in .nothing }
        fed.feed(alarm(1), alarm(2, "tea"), poll(3), job(4))
        #expect(recorder.told == ["alarm pill 1", "fetch 900.0 seconds 3", "task backup 4"])
        #expect(
            fed.answers == [
                "{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}",
                "{\"ack\":3,\"result\":\"useful\"}", "{\"ack\":4,\"result\":\"useful\"}",
            ])
    }

    @Test("a delegate may complete a job later, and a second time is told as an error")
    func delegatesLater() {
        let recorder = Recorder()
        recorder.result = .pending
        let fed = Fed(recorder)
        fed.feed(job(4), expiring("stalled", 4))
        for task in recorder.tasks + recorder.tasks { task.setTaskCompleted(success: true) }
        #expect(fed.answers == ["{\"ack\":4,\"result\":\"useful\"}"])
        #expect(recorder.told == ["task backup 4", "error stale-lease"])
        #expect(recorder.tasks.first?.expirationReason == .stalled)
    }

    @Test("that a region was entered or left comes to the delegate, which finishes it")
    func regions() {
        let recorder = Recorder()
        let fed = Fed(recorder)
        fed.feed(
            occasion(1, "region.entered", of: "home", "{\"id\":\"home\",\"initial\":true}"),
            occasion(2, "region.exited", of: "home", "{\"id\":\"home\",\"initial\":false}"))
        #expect(recorder.told == ["region home true true", "region home false false"])
        #expect(fed.answers == (1...2).map { "{\"ack\":\($0),\"result\":\"useful\"}" })
    }

    @Test("a message comes to the delegate, as text or as bytes, which finishes it")
    func messages() {
        let recorder = Recorder()
        let fed = Fed(recorder)
        fed.feed(
            occasion(
                1, "message.received", of: "inbox",
                "{\"id\":\"7\",\"topic\":\"a\",\"payload\":\"hi\",\"collapsed\":2}"),
            occasion(2, "message.received", of: "inbox", "{\"id\":\"8\",\"urgency\":\"high\",\"raw\":\"ff00\"}"))
        #expect(recorder.told == ["normal a hi 2", "high - no text 0"])
        #expect(fed.answers == (1...2).map { "{\"ack\":\($0),\"result\":\"useful\"}" })
    }

    @Test("a delegate that knows nothing of occasions finishes them as nothing")
    func defaults() {
        let fed = Fed(Silent())
        fed.feed(alarm(1), poll(2), job(3), notice("storage", "{\"path\":\"/data\",\"available\":true}"))
        #expect(fed.answers == (1...3).map { "{\"ack\":\($0),\"result\":\"nothing\"}" })
    }

    @Test("without a delegate they are events of the sequence, with what is due, and a task for a job")
    func sequence() async throws {
        let fed = Fed()
        fed.feed(event(1), alarm(2), poll(3), job(4))
        fed.session.endInput()
        var kinds: [BackgroundEvent.Kind] = []
        for await event in fed.session.events {
            kinds.append(event.kind)
            if let task = fed.session.scheduler.task(for: event) {
                #expect(event.kind == .task(task.details) && task.identifier == "backup")
                task.progress(1)
                task.setTaskCompleted(success: true)
                #expect(fed.session.scheduler.task(for: event) == nil)
            } else {
                fed.session.finish(event, .useful)
            }
        }
        guard kinds.count == 4, case .peripheral(_, .data) = kinds[0], case .alarm(let alarm) = kinds[1],
            case .fetch(let fetch) = kinds[2]
        else {
            Issue.record("\(kinds)")
            return
        }
        #expect(alarm.identifier == "pill" && alarm.due == Timestamp("2026-11-21T07:42:40Z"))
        #expect(alarm.lateBy == .seconds(6) && alarm.missed == 2 && alarm.data?["dose"]?.integer == 2)
        #expect(alarm.alert == "Now")
        #expect(fetch.interval == .seconds(900) && fetch.last == .newData)
        #expect(
            fed.answers == [
                "{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"useful\"}",
                "{\"ack\":3,\"result\":\"useful\"}", "{\"progress\":4,\"done\":1}", "{\"ack\":4,\"result\":\"useful\"}",
            ])
    }

    @Test("an alarm of the sequence is handed back until its conditions are true; an event of a device is not")
    func handsBack() async {
        let fed = Fed()
        fed.feed(event(1), alarm(2))
        fed.session.endInput()
        for await event in fed.session.events { fed.session.handBack(event, until: [.timeSynced]) }
        #expect(fed.answers == ["{\"nack\":2,\"until\":[\"time-synced\"]}"])
    }

    @Test("a new process is told what is pending, and why it runs")
    func restores() throws {
        let fed = Fed(Recorder())
        let pending = """
            [{"source":"alarm","id":"pill","state":"waiting","due":"2026-11-22T07:30:00Z","waits_for":["time"],\
            "next_chance":"2026-11-22T07:30:00Z"},{"source":"job","id":"backup","state":"running",\
            "deadline":"2026-11-23T00:00:00Z","waits_for":[],"event":7},{"source":"poll","state":"queued","waits_for":[]}]
            """
        fed.feed(notice("restored", "{\"reason\":\"alarm\",\"devices\":[],\"pending\":\(pending)}"))
        let restoration = try #require(fed.session.restoration)
        let alarm = try #require(restoration.pending.first)
        #expect(restoration.reason == .alarm && restoration.pending.map(\.source) == [.alarm, .job, .poll])
        #expect(alarm.identifier == "pill" && alarm.state == .waiting && alarm.waitsFor == ["time"])
        #expect(alarm.due == Timestamp("2026-11-22T07:30:00Z") && alarm.nextChance == alarm.due)
        #expect(alarm.deadline == nil && alarm.sequence == nil)
        #expect(restoration.pending[1].sequence == 7 && restoration.pending[1].state == .running)
        #expect(restoration.pending[1].deadline == Timestamp("2026-11-23T00:00:00Z"))
        #expect(restoration.pending[2].identifier == "" && restoration.pending[2].state == .queued)
    }

    @Test("that a path of the manifest came or went is told")
    func tellsStorage() async {
        let (recorder, without) = (Recorder(), Fed())
        let line = notice("storage", "{\"path\":\"/data\",\"available\":false}")
        Fed(recorder).feed(line)
        without.feed(line)
        #expect(recorder.told == ["storage /data false"])
        #expect(await without.notices() == [.storageChanged(path: "/data", isAvailable: false)])
    }
}

@Suite("Registered alarms and polls")
@MainActor
struct RegisteredClosureTests {
    private let fed = Fed()

    @Test("an alarm goes to its own closure, else to that for all alarms, and each is registered once")
    func alarms() {
        let told = Box<[String]>([])
        let alarms = fed.session.alarms
        #expect(
            alarms.register(forAlarmWithIdentifier: "pill") { alarm in
                told.value.append("own \(alarm.identifier)")
                return .useful
            })
        #expect(
            alarms.register { alarm in
                told.value.append("any \(alarm.identifier)")
                return .nothing
            })
        #expect(!alarms.register(forAlarmWithIdentifier: "pill") { _ in .failed })
        #expect(!alarms.register { _ in .failed })
        fed.feed(alarm(1), alarm(2, "tea"))
        #expect(told.value == ["own pill", "any tea"])
        #expect(fed.answers == ["{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}"])
    }

    @Test("an alarm whose closure throws comes again, and what came after it is acknowledged meanwhile")
    func alarmThrows() {
        struct NoPrinter: Error {}
        fed.session.alarms.register { alarm in
            if alarm.identifier == "pill" { throw NoPrinter() }
            return .useful
        }
        fed.feed(alarm(1), alarm(2, "tea"))
        let lines = fed.session.drainLines()
        #expect(textLines(lines.replies) == ["{\"nack\":1}", "{\"ack\":2,\"result\":\"useful\"}"])
        #expect(textLines(lines.log) == ["error: pill: NoPrinter(); it comes again"])
    }

    @Test("an alarm's work may await, and holds back the acknowledgement of what came after it")
    func alarmAwaits() async {
        fed.session.alarms.register(forAlarmWithIdentifier: "pill") { _ in
            await Task.yield()
            return .useful
        }
        fed.session.alarms.register { _ in .nothing }
        fed.feed(alarm(1), alarm(2, "tea"))
        #expect(fed.answers == [])
        await fed.finishWork()
        #expect(fed.answers == ["{\"ack\":2,\"result\":\"nothing\"}"])
    }

    @Test(
        "the result of a message is that of its acknowledgement, and one that is not finished for an error comes again")
    func messageResults() async {
        let results = Box<[FetchResult]>([.newData, .noData, .failed])
        #expect(
            fed.session.remoteNotifications.register { message in
                await Task.yield()
                if message.text == "later" { throw HandBack(until: .network) }
                return results.value.removeFirst()
            })
        #expect(!fed.session.remoteNotifications.register { _ in .failed })
        for (number, text) in ["a", "b", "c", "later"].enumerated() {
            fed.feed(occasion(number + 1, "message.received", of: "inbox", "{\"id\":\"1\",\"payload\":\"\(text)\"}"))
            await fed.finishWork()
        }
        #expect(
            fed.answers == [
                "{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}",
                "{\"ack\":3,\"result\":\"failed\"}", "{\"nack\":4,\"until\":[\"network\"]}",
            ])
    }

    @Test("the result of a fetch is that of its acknowledgement")
    func fetches() async {
        let results = Box<[FetchResult]>([.newData, .noData, .failed])
        #expect(fed.session.backgroundFetch.register { _ in results.value.removeFirst() })
        #expect(!fed.session.backgroundFetch.register { _ in .failed })
        fed.feed(poll(1), poll(2), poll(3))
        #expect(
            fed.answers == [
                "{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}",
                "{\"ack\":3,\"result\":\"failed\"}",
            ])
    }

    @Test("a fetch that awaits is told how the last one ended, and comes again after an error")
    func fetchAwaits() async {
        let last = Box<[FetchResult?]>([])
        fed.session.backgroundFetch.register { fetch in
            await Task.yield()
            last.value.append(fetch.last)
            if fetch.last == .failed { throw HandBack(until: .network) }
            return .noData
        }
        for (sequence, word) in ["\"useful\"", "\"nothing\"", "\"overrun\"", "null", "\"failed\""].enumerated() {
            fed.feed(poll(sequence + 1, last: word))
            await fed.finishWork()
        }
        #expect(last.value == [.newData, .noData, nil, nil, .failed])
        #expect(fed.answers.last == "{\"nack\":5,\"until\":[\"network\"]}" && fed.session.drainLines().log.isEmpty)
    }
}
