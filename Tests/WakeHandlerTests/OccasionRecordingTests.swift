// Alarms, polls and jobs that a test plays into a handler, with the daemon's answers to what it orders.
import TestBench
import Testing
import WakeHandlerTesting

@testable import WakeHandler

@Suite("Alarms, polls and jobs in a handler's tests")
@MainActor
struct OccasionRecordingTests {
    @Test("they come at their times, between what the devices do, with lines of their own")
    func comes() async throws {
        var recording = try Recording(
            text: """
                wakebridge-trace 1
                clock 2026-11-21T07:42:46Z
                device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
                +1 1 data 2a37 01
                +9 1 data 2a37 02
                end

                """)
        recording.occasions = [
            .task("backup", kind: .processing, after: .seconds(20), deadline: .seconds(60), waived: [.power]),
            .alarm("pill", after: .seconds(5), data: ["dose": 2], missed: 1, lateBy: .seconds(3)),
            .fetch(after: .seconds(5), last: .noData),
        ]
        var seen: [String] = []
        let answers = try await recording.play { session in
            for await event in session.events {
                seen.append("\(event.sequence) \(event.name) \(event.time)")
                session.finish(event, .useful)
            }
        }
        #expect(
            seen == [
                "1 strap 2026-11-21T07:42:47.000000Z", "2 pill 2026-11-21T07:42:51.000000Z",
                "3 poll 2026-11-21T07:42:51.000000Z", "4 strap 2026-11-21T07:42:56.000000Z",
                "5 backup 2026-11-21T07:43:06.000000Z",
            ])
        #expect(
            answers.deliveredLines[2]
                == "{\"specversion\":\"1.0\",\"id\":\"replay-2\",\"source\":\"/alarm/model/pill\",\"type\":\"wakebridge.alarm.fired\","
                + "\"subject\":\"pill\",\"time\":\"2026-11-21T07:42:51.000000Z\",\"datacontenttype\":\"application/json\","
                + "\"authenticated\":true,\"seq\":2,\"attempt\":1,\"budgetms\":10000,\"data\":{\"id\":\"pill\","
                + "\"due\":\"2026-11-21T07:42:48.000000Z\",\"late_s\":3,\"missed\":1,\"data\":{\"dose\":2}}}")
        #expect(
            answers.deliveredLines[3].hasSuffix(
                "\"budgetms\":30000,\"data\":{\"interval_s\":900,\"last\":\"nothing\"}}"))
        #expect(
            answers.deliveredLines[5].hasSuffix(
                "\"budgetms\":60000,\"data\":{\"job\":\"backup\",\"kind\":\"processing\","
                    + "\"deadline\":\"2026-11-21T07:44:06.000000Z\",\"waived\":[\"power\"]}}"))
        #expect(answers.acknowledgements.map(\.settled) == [[1], [2], [3], [4], [5]] && answers.refusals == [])
    }

    @Test("progress, hand-backs and retries are given back, and a retry comes again")
    func gives() async throws {
        let attempts = Box<[Int]>([])
        let recording = Recording(occasions: [.task("a", kind: .processing), .task("b", kind: .refresh), .alarm("c")])
        let answers = try await recording.play { session in
            session.scheduler.register(forTaskWithIdentifier: "a") { task in
                task.progress(1, of: 2)
                return .nothing
            }
            session.scheduler.register(forTaskWithIdentifier: "b") { $0.handBack(until: [.network]) }
            session.alarms.register { alarm in
                attempts.value.append(attempts.value.count + 1)
                if attempts.value.count == 1 { throw CancellationError() }
                return .useful
            }
            await session.serve()
        }
        #expect(answers.progress == [.init(sequence: 1, done: 1, total: 2)])
        #expect(answers.handedBack == [.init(sequence: 2, until: ["network"])])
        #expect(answers.retries == [.init(sequence: 3, after: nil)] && attempts.value == [1, 2])
        #expect(answers.acknowledgements.map(\.sequence) == [1, 3] && answers.unanswered == [])
        #expect(answers.orders == ["a", "b"].map { .init(verb: "register", value: "\"\($0)\"") })
    }

    @Test("progress of what is no long work is refused, as the daemon does")
    func refusesProgress() async throws {
        let answers = try await Recording(occasions: [.task("b", kind: .refresh)]).play { session in
            session.scheduler.register(forTaskWithIdentifier: "b") { task in
                task.progress(1)
                task.setTaskCompleted(success: true)
            }
            await session.serve()
        }
        #expect(answers.progress == [] && answers.refusals.count == 1 && answers.acknowledgements.count == 1)
    }

    @Test("work whose condition goes is told so, taken back if it goes on, and comes again with the reason")
    func losesCondition() async throws {
        let returned = Box<[ExpirationReason?]>([])
        let recording = Recording(occasions: [.task("backup", kind: .processing, expires: .condition)])
        let answers = try await recording.play { session in
            session.scheduler.register(forTaskWithIdentifier: "backup") { task in
                returned.value.append(task.details.returned)
                task.expirationHandler = { session.log("stop: \(task.expirationReason?.word ?? "-")") }
                if task.details.returned != nil { task.setTaskCompleted(success: true) }
            }
            await session.serve()
        }
        #expect(returned.value == [nil, .condition] && answers.log == ["stop: condition"])
        #expect(answers.takenBack == [1] && answers.acknowledgements.map(\.sequence) == [2])
        #expect(answers.unanswered == [] && answers.refusals == [])
    }

    @Test("work that awaits is cancelled when its time ends; what was finished before that is not told")
    func expires() async throws {
        var recording = Recording(occasions: [
            .task("backup", kind: .processing, expires: .stalled), .fetch(expires: .budget),
        ])
        recording.mostAttempts = 1
        let answers = try await recording.play { session in
            session.scheduler.register(forTaskWithIdentifier: "backup") { _ in
                try await workWithoutEnd()
                return .useful
            }
            session.backgroundFetch.register { _ in .noData }
            await session.serve()
        }
        #expect(answers.retries == [.init(sequence: 1, after: nil)] && answers.unanswered == [1])
        #expect(answers.acknowledgements.map(\.result) == [.nothing])
        #expect(answers.deliveredLines.filter { $0.contains("wakebridge.expiring") }.count == 1)
    }

    @Test("messages are played as they would come, and come again where they were not finished")
    func messages() async throws {
        let recording = Recording(occasions: [
            .message("rain", topic: "sky"), .message("ring", identifier: "2", isUrgent: true, after: .seconds(5)),
        ])
        let heard = Box<[String]>([])
        let answers = try await recording.play { session in
            session.remoteNotifications.register { message in
                heard.value.append(
                    "\(message.identifier) \(message.topic ?? "-") \(message.urgency) \(message.text ?? "")")
                return message.topic == nil ? .noData : .newData
            }
            await session.serve()
        }
        #expect(heard.value == ["1 sky normal rain", "2 - high ring"])
        #expect(answers.acknowledgements.map(\.result) == [.useful, .nothing] && answers.unanswered == [])
    }

    @Test("a delegate is told of the end of a job's time between the job and the next line")
    func expiresWithDelegate() {
        final class Patient: BackgroundSessionDelegate {
            var reasons: [ExpirationReason] = []
            func session(_ session: BackgroundSession, taskIsDue task: ScheduledTask) -> WorkResult {
                task.expirationHandler = {
                    self.reasons += [task.expirationReason].compactMap { $0 }
                    task.setTaskCompleted(success: true)
                }
                return .pending
            }
        }
        let patient = Patient()
        let answers = Recording(occasions: [.task("a", kind: .continued, expires: .maxRun), .alarm("b")]).play(
            to: patient)
        #expect(patient.reasons == [.maxRun] && answers.acknowledgements.map(\.sequence) == [1, 2])
    }

    @Test("orders are followed, kept in a list and answered, and what was pending before is there")
    func follows() async throws {
        var recording = Recording(occasions: [.alarm("tick")], start: Timestamp(microsecondsSince1970: 0))
        (recording.pendingAlarms, recording.pendingTasks) = (["old"], ["backup"])
        let answers = try await recording.play { session in
            for await event in session.events {
                #expect(session.restoration?.pending.map(\.identifier) == ["old", "backup"])
                let first = try await session.alarms.add(
                    AlarmRequest(identifier: "tea", trigger: .after(.seconds(240))))
                #expect(
                    first.outcome == .set && first.pending.last?.due == Timestamp(microsecondsSince1970: 240_000_000))
                let again = try await session.alarms.add(AlarmRequest(identifier: "tea", trigger: .after(.seconds(1))))
                let submitted = try await session.scheduler.submit(
                    BackgroundProcessingRequest(identifier: "backup", delay: .milliseconds(500), deadline: .seconds(9)))
                #expect(again.outcome == .replaced && submitted.outcome == .replaced)
                #expect(submitted.pending.last?.deadline == Timestamp(microsecondsSince1970: 9_000_000))
                #expect(submitted.pending.last?.due == Timestamp(microsecondsSince1970: 500_000))
                session.alarms.removePending(withIdentifiers: ["old", "unknown"])
                #expect(try await session.alarms.pending().map(\.identifier) == ["tea"])
                session.scheduler.cancelAllTaskRequests()
                #expect(try await session.scheduler.pendingTaskRequests() == [])
                #expect(try await session.backgroundFetch.setMinimumInterval(.seconds(60)).outcome == .set)
                session.finish(event, .useful)
            }
        }
        #expect(answers.orders.first == .init(verb: "alarm", value: "{\"id\":\"tea\",\"in_s\":240}"))
        #expect(answers.orders.count == 9 && answers.refusals == [])
    }

    @Test("orders of a verb are refused with the code that the test names")
    func refuses() async throws {
        var recording = Recording(occasions: [.alarm("tick")])
        recording.orderRefusals = ["submit": .tooMany]
        let answers = try await recording.play { session in
            for await event in session.events {
                await #expect {
                    try await session.scheduler.submit(BackgroundRefreshRequest(identifier: "news"))
                } throws: {
                    ($0 as? BridgeError)?.code == .tooMany
                }
                session.finish(event, .useful)
            }
        }
        #expect(answers.refusals == ["submit: the test refuses it. Expect this answer in this test."])
    }
}
