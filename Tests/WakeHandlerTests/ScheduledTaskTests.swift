// Jobs that come due: the closures that are registered for them, and the tasks that these are handed.
import Testing

@testable import WakeHandler

@Suite("Jobs in a handler")
@MainActor
struct ScheduledTaskTests {
    private let fed = Fed()
    private var scheduler: BackgroundTaskScheduler { fed.session.scheduler }

    /// Registers a closure that keeps the task.
    private func keepTask(_ id: String = "backup") -> Box<ScheduledTask?> {
        let box = Box<ScheduledTask?>(nil)
        scheduler.register(forTaskWithIdentifier: id) { box.value = $0 }
        _ = fed.answers
        return box
    }

    @Test("registering tells the daemon, and a second closure for the same job is refused")
    func registers() {
        #expect(scheduler.register(forTaskWithIdentifier: "backup") { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: "backup") { _ in Issue.record("the first one stays") })
        #expect(fed.answers == ["{\"register\":\"backup\"}"])
        fed.feed(job(5))
    }

    @Test("a task says what is due, and setTaskCompleted acknowledges it or gives it back")
    func completes() throws {
        let box = keepTask()
        fed.feed(job(5, more: ",\"returned\":\"condition\",\"missed\":3"))
        let task = try #require(box.value)
        #expect(task.identifier == "backup" && task.event.sequence == 5 && task.event.name == "backup")
        #expect(task.details.kind == .processing && task.details.waived == [.power] && task.details.missed == 3)
        #expect(task.details.returned == .condition && task.details.deadline == Timestamp("2026-11-22T07:42:46Z"))
        task.setTaskCompleted(success: true)
        fed.feed(job(6))
        box.value?.setTaskCompleted(success: false)
        fed.feed(job(6, attempt: 2))
        #expect(box.value?.event.attempt == 2)
        box.value?.complete(.failed)
        #expect(
            fed.answers == ["{\"ack\":5,\"result\":\"useful\"}", "{\"nack\":6}", "{\"ack\":6,\"result\":\"failed\"}"])
    }

    @Test("progress and handing back name the event of the task")
    func reports() {
        let box = keepTask()
        fed.feed(job(5))
        box.value?.progress(3, of: 10)
        box.value?.progress(4)
        box.value?.handBack(until: [.network, .mount("/data")])
        #expect(
            fed.answers == [
                "{\"progress\":5,\"done\":3,\"total\":10}", "{\"progress\":5,\"done\":4}",
                "{\"nack\":5,\"until\":[\"network\",\"mount:/data\"]}",
            ])
    }

    @Test("a hand-back that names nothing leaves the wait to the daemon")
    func handsBackPlainly() {
        let box = keepTask()
        fed.feed(job(5))
        box.value?.handBack(until: [])
        #expect(fed.answers == ["{\"nack\":5}"])
    }

    @Test("completing twice, or after the daemon took the job back, is an error that is told, and writes nothing")
    func completesTwice() async throws {
        let box = keepTask()
        fed.feed(job(5))
        let first = try #require(box.value)
        first.setTaskCompleted(success: true)
        first.setTaskCompleted(success: true)
        first.progress(1)
        fed.feed(job(6))
        let second = try #require(box.value)
        fed.feed(notice("resumed", "{\"frozen_for_ms\":1,\"reason\":\"owed\",\"open\":[]}"), job(6, attempt: 2))
        second.setTaskCompleted(success: false)
        second.handBack(until: [.power])
        #expect(fed.answers == ["{\"ack\":5,\"result\":\"useful\"}"])
        box.value?.setTaskCompleted(success: true)
        #expect(fed.answers == ["{\"ack\":6,\"result\":\"useful\"}"])
        let told = await fed.notices()
        #expect(told.errorCodes == Array(repeating: "stale-lease", count: 4))
        let sentences = told.compactMap { if case .failed(let error) = $0 { error.description } else { nil } }
        #expect(
            sentences.first
                == "The work on \"backup\", event 5, was finished before, or the daemon has taken it back. "
                + "Finish it once; one that was taken back comes again.")
    }

    @Test("long work stands beside other events: their acknowledgements pass over it, and its own closes nothing else")
    func standsBeside() async throws {
        let box = keepTask()
        fed.feed(job(5), event(6), event(7))
        let loop = Task {
            for await event in fed.session.events where event.sequence == 6 { fed.session.finish(event, .useful) }
        }
        await fed.settle()
        #expect(fed.answers == ["{\"ack\":6,\"result\":\"useful\"}"])
        box.value?.setTaskCompleted(success: true)
        #expect(fed.answers == ["{\"ack\":5,\"result\":\"useful\"}"])
        fed.session.endInput()
        await loop.value
    }

    @Test("a refresh is one of the batch: its acknowledgement waits for the events before it")
    func refreshWaits() async {
        let box = keepTask()
        fed.feed(event(4), job(5, kind: "refresh"))
        let loop = Task { for await event in fed.session.events { box.other = event } }
        await fed.settle()
        box.value?.setTaskCompleted(success: true)
        #expect(fed.answers == [])
        if let event = box.other { fed.session.finish(event, .nothing) }
        #expect(fed.answers == ["{\"ack\":5,\"result\":\"useful\"}"])
        fed.session.endInput()
        await loop.value
    }

    @Test("an alarm that is done does not acknowledge an event before it that waits to be taken, or is left out")
    func alarmWaits() async {
        fed.session.alarms.register { _ in .useful }
        fed.feed(event(1), event(2), alarm(3))
        #expect(fed.answers == [])
        let loop = Task {
            for await event in fed.session.events {
                fed.session.finish(event, event.attempt == 1 ? .retry(after: nil) : .useful)
            }
        }
        await fed.settle()
        #expect(fed.answers == ["{\"nack\":1}", "{\"ack\":3,\"result\":\"useful\"}"])
        fed.feed(event(1, attempt: 2), event(2, attempt: 2))
        await fed.settle()
        #expect(fed.answers == [1, 2].map { "{\"ack\":\($0),\"result\":\"useful\"}" })
        fed.session.endInput()
        await loop.value
    }

    @Test("an event behind a refused one of its device does not hold back what is done after it")
    func leavesOutOldPlaces() async {
        fed.session.alarms.register { _ in .useful }
        fed.feed(event(1))
        let loop = Task {
            for await event in fed.session.events { fed.session.finish(event, .retry(after: nil)) }
        }
        await fed.settle()
        // Written before the daemon read the refusal.
        fed.feed(event(2), alarm(3))
        await fed.settle()
        #expect(fed.answers == ["{\"nack\":1}", "{\"ack\":3,\"result\":\"useful\"}"])
        fed.session.endInput()
        await loop.value
    }

    @Test("a job that comes as another event after it was given back is not waited for under its old number")
    func comesAnew() {
        let box = keepTask()
        fed.feed(job(5, kind: "refresh"))
        box.value?.setTaskCompleted(success: false)
        fed.feed(job(9, kind: "refresh"))
        box.value?.setTaskCompleted(success: true)
        #expect(fed.answers == ["{\"nack\":5}", "{\"ack\":9,\"result\":\"useful\"}"])
    }
}

@Suite("The end of a job's time")
@MainActor
struct TaskExpirationTests {
    private let fed = Fed()
    private let expired = Box<[String]>([])

    /// Begins a job whose expiration is noted.
    private func begin(_ sequence: Int, _ id: String, kind: String = "processing") {
        fed.session.scheduler.register(forTaskWithIdentifier: id) { task in
            task.expirationHandler = { expired.value.append("\(id) \(task.expirationReason.map { "\($0)" } ?? "-")") }
        }
        fed.feed(job(sequence, id, kind: kind))
    }

    @Test("the expiration handler of a task whose condition went is called once, and not that of another")
    func expiresOne() {
        begin(5, "backup")
        begin(6, "index")
        fed.feed(expiring("condition", 5), expiring("condition", 5))
        #expect(expired.value == ["backup condition"])
    }

    @Test(
        "which tasks expire follows from the reason",
        arguments: [
            ("budget", ["news"]), ("condition", ["backup", "news"]), ("stalled", ["backup"]), ("max-run", ["backup"]),
            ("cancelled", ["backup", "news"]),
            ("system-sleep", []), ("extension", ["backup", "news"]), ("shutdown", ["backup", "news"]),
            ("memory", ["backup", "news"]), ("of-tomorrow", ["backup", "news"]),
        ])
    func expiresByReason(reason: String, ids: [String]) {
        begin(5, "backup")
        begin(6, "news", kind: "refresh")
        fed.feed(expiring(reason, 5, 6))
        #expect(expired.value == ids.map { "\($0) \(reason)" })
    }

    @Test("an alarm in hand does not end because a condition went")
    func alarmStays() async {
        fed.session.alarms.register { _ in
            try await workWithoutEnd()
            return .useful
        }
        fed.feed(alarm(5))
        await fed.settle()
        fed.feed(expiring("condition", 5))
        await fed.settle()
        #expect(fed.session.isPerforming)
        fed.feed(expiring("budget", 5))
        await fed.finishWork()
        #expect(fed.answers == ["{\"nack\":5}"])
    }

    @Test("the end of one job's time does not expire extension tasks, nor shorten the session's time")
    func leavesOthers() {
        let task = fed.session.beginBackgroundTask(named: "up") { expired.value.append("up") }
        begin(5, "backup")
        #expect(fed.session.backgroundTimeRemaining == nil)
        fed.feed(expiring("stalled", 5))
        #expect(expired.value == ["backup stalled"] && fed.session.backgroundTimeRemaining == nil)
        fed.feed(expiring("operator", 5))
        #expect(expired.value == ["backup stalled", "up"] && fed.session.backgroundTimeRemaining != nil)
        task.end()
    }

    @Test("an expiration handler that is set too late is called at once")
    func callsLate() throws {
        let box = Box<ScheduledTask?>(nil)
        fed.session.scheduler.register(forTaskWithIdentifier: "backup") { box.value = $0 }
        fed.feed(job(5))
        let task = try #require(box.value)
        #expect(task.expirationReason == nil && task.expirationHandler == nil)
        fed.feed(expiring("condition", 5))
        task.expirationHandler = { expired.value.append("late") }
        #expect(expired.value == ["late"] && task.expirationReason == .condition)
        task.setTaskCompleted(success: false)
        #expect(fed.answers.last == "{\"nack\":5}")
    }

    @Test("a task that the daemon took back while the process was frozen expires, and comes again")
    func losesLease() {
        begin(5, "backup")
        fed.feed(notice("resumed", "{\"frozen_for_ms\":1,\"reason\":\"job\",\"open\":[]}"))
        #expect(expired.value == ["backup budget"])
        fed.feed(job(5, attempt: 2), expiring("condition", 5))
        #expect(expired.value == ["backup budget", "backup condition"])
    }
}

@Suite("Jobs whose work awaits")
@MainActor
struct AwaitedWorkTests {
    private let fed = Fed()

    private func register(_ work: @escaping @MainActor @Sendable (ScheduledTask) async throws -> WorkResult) {
        fed.session.scheduler.register(forTaskWithIdentifier: "backup", work: work)
        _ = fed.answers
    }

    @Test("its result completes the task")
    func completes() async {
        register { task in
            await Task.yield()
            task.progress(1)
            return .nothing
        }
        fed.feed(job(5))
        #expect(fed.session.isPerforming)
        await fed.finishWork()
        #expect(fed.answers == ["{\"progress\":5,\"done\":1}", "{\"ack\":5,\"result\":\"nothing\"}"])
    }

    @Test("it is cancelled when its time is nearly over, and the task comes again")
    func isCancelled() async {
        let seen = Box<ExpirationReason?>(nil)
        register { task in
            task.expirationHandler = { seen.value = task.expirationReason }
            try await workWithoutEnd()
            return .useful
        }
        fed.feed(job(5))
        await fed.settle()
        fed.feed(expiring("max-run", 5))
        await fed.finishWork()
        #expect(fed.answers == ["{\"nack\":5}"] && seen.value == .maxRun)
        #expect(await fed.notices().errorCodes == [])
    }

    @Test("an error gives the task back and is logged; a HandBack names what it waits for")
    func throwsErrors() async {
        struct NoDisk: Error {}
        let fault = Box<any Error>(NoDisk())
        register { _ in throw fault.value }
        fed.feed(job(5))
        await fed.finishWork()
        fault.value = HandBack(until: .unmetered, .power)
        fed.feed(job(6))
        await fed.finishWork()
        let lines = fed.session.drainLines()
        #expect(textLines(lines.replies) == ["{\"nack\":5}", "{\"nack\":6,\"until\":[\"unmetered\",\"power\"]}"])
        #expect(textLines(lines.log) == ["error: backup: NoDisk(); it comes again"])
    }

    @Test("work that still runs when its job was taken back and given again cannot answer for the new delivery")
    func isSuperseded() async {
        let starts = Box(0)
        register { _ in
            starts.value += 1
            try await workWithoutEnd()
            return .useful
        }
        fed.feed(job(5), notice("resumed", "{\"frozen_for_ms\":1,\"reason\":\"job\",\"open\":[]}"), job(5, attempt: 2))
        while starts.value < 2 { await Task.yield() }
        fed.feed(expiring("stalled", 5))
        await fed.finishWork()
        #expect(fed.answers == ["{\"nack\":5}"])
    }

    @Test("a session without a delegate serves its closures, and finishes what none is registered for")
    func serves() async {
        register { _ in .useful }
        fed.feed(job(5), job(6, "other"), event(7))
        fed.session.endInput()
        await fed.session.serve()
        #expect(
            fed.answers.sorted() == [
                "{\"ack\":5,\"result\":\"useful\"}", "{\"ack\":6,\"result\":\"nothing\"}",
                "{\"ack\":7,\"result\":\"nothing\"}",
            ])
    }
}

/// Something that closures share.
@MainActor
final class Box<Value> {
    var value: Value
    var other: BackgroundEvent?

    init(_ value: Value) { self.value = value }
}
