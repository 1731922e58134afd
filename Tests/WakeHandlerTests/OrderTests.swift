// What a handler orders: jobs, alarms and polls as lines of descriptor 3, and the daemon's answers to them.
import Testing
import WakeModel

@testable import WakeHandler

@Suite("Orders of a handler")
@MainActor
struct OrderTests {
    private let fed = Fed()
    private var scheduler: BackgroundTaskScheduler { fed.session.scheduler }
    private var alarms: AlarmCenter { fed.session.alarms }

    /// The one line that was written; every line is one that the daemon can read.
    private func line() throws -> String {
        let answers = fed.answers
        for answer in answers { _ = try ReplyLine.parse(Array(answer.utf8)[...]) }
        return answers.count == 1 ? answers[0] : "\(answers)"
    }

    @Test("a request has only what was set on it")
    func submitsPlainly() throws {
        scheduler.submit(BackgroundRefreshRequest(identifier: "news"))
        #expect(try line() == "{\"submit\":{\"job\":\"news\"},\"ref\":1}")
        scheduler.submit(ContinuedProcessingRequest(identifier: "export"))
        #expect(try line() == "{\"submit\":{\"job\":\"export\"},\"ref\":2}")
    }

    @Test("a request says its earliest begin, its deadline, its conditions and its strategy")
    func submitsAll() throws {
        var request = BackgroundProcessingRequest(
            identifier: "backup", delay: .seconds(3600), deadline: .seconds(86_400), conditions: [.unmetered])
        request.requiresExternalPower = true
        scheduler.submit(request)
        #expect(
            try line()
                == "{\"submit\":{\"job\":\"backup\",\"not_before_s\":3600,\"deadline_s\":86400,\"require\":[\"unmetered\",\"power\"]},\"ref\":1}"
        )
        scheduler.submit(ContinuedProcessingRequest(identifier: "export", strategy: .fail))
        #expect(try line() == "{\"submit\":{\"job\":\"export\",\"strategy\":\"fail\"},\"ref\":2}")
        var refresh = BackgroundRefreshRequest(identifier: "news", delay: .milliseconds(1500))
        refresh.conditions = []
        scheduler.submit(refresh)
        #expect(try line() == "{\"submit\":{\"job\":\"news\",\"not_before_s\":1.5,\"require\":[]},\"ref\":3}")
    }

    @Test("power and network are conditions of a processing request, and can be taken back")
    func requires() {
        var request = BackgroundProcessingRequest(identifier: "backup")
        #expect(!request.requiresExternalPower && !request.requiresNetworkConnectivity && request.conditions == nil)
        request.requiresNetworkConnectivity = true
        request.requiresNetworkConnectivity = true
        request.requiresExternalPower = true
        #expect(request.conditions == [.network, .power] && request.requiresExternalPower)
        request.requiresNetworkConnectivity = false
        #expect(request.conditions == [.power] && !request.requiresNetworkConnectivity)
    }

    @Test("an earliest date counts from now, in the past for nothing, and the later of date and delay counts")
    func countsDates() throws {
        func wait(_ request: BackgroundRefreshRequest, at now: Timestamp) -> Double? {
            request.order(at: now).value["not_before_s"]?.number
        }
        let now = try #require(Timestamp("2026-11-21T07:42:46.5Z"))
        var request = BackgroundRefreshRequest(identifier: "news")
        request.earliestBeginDate = now + .seconds(90)
        #expect(wait(request, at: now) == 90)
        // Rounded up: it never begins too early.
        #expect(wait(request, at: now + .microseconds(1)) == 90)
        request.delay = .seconds(100)
        #expect(wait(request, at: now) == 100)
        request.earliestBeginDate = now + .seconds(-90)
        #expect(wait(request, at: now) == 100)
        request.delay = nil
        #expect(wait(request, at: now) == nil)
        let before = Timestamp.now
        #expect(before <= Timestamp.now && before - before == .zero)
    }

    @Test("cancelling names one job, or all")
    func cancels() throws {
        scheduler.cancel(taskRequestWithIdentifier: "backup")
        #expect(try line() == "{\"cancel\":{\"job\":\"backup\"}}")
        scheduler.cancelAllTaskRequests()
        #expect(try line() == "{\"cancel\":{\"jobs\":true}}")
        alarms.removePending(withIdentifiers: ["pill"])
        #expect(try line() == "{\"cancel\":{\"alarm\":\"pill\"}}")
        alarms.removeAllPending()
        #expect(try line() == "{\"cancel\":{\"alarms\":true}}")
    }

    @Test(
        "each trigger of an alarm has its own keys",
        arguments: [
            (AlarmRequest.Trigger.after(.seconds(240)), "\"in_s\":240"),
            (.every(.milliseconds(90_500)), "\"every_s\":90.5"),
            (.at(Timestamp(microsecondsSince1970: 1_795_246_966_727_125)), "\"at\":\"2026-11-21T07:42:46.727125Z\""),
            (.daily([TimeOfDay(7, 30), TimeOfDay(19, 5, 15)]), "\"daily\":[\"07:30\",\"19:05:15\"]"),
            (
                .daily([TimeOfDay(23, 0)], on: [.monday, .friday], zone: "Europe/Berlin"),
                "\"daily\":[\"23:00\"],\"days\":[\"mon\",\"fri\"],\"zone\":\"Europe/Berlin\""
            ),
        ])
    func triggers(trigger: AlarmRequest.Trigger, keys: String) throws {
        alarms.add(AlarmRequest(identifier: "x", trigger: trigger))
        #expect(try line() == "{\"alarm\":{\"id\":\"x\",\(keys)},\"ref\":1}")
    }

    @Test("an alarm carries data and a line for people, and says what becomes of missed times")
    func carries() throws {
        var request = AlarmRequest(
            identifier: "tea", trigger: .after(.seconds(240)),
            data: ["kind": "green", "cups": 2, "hot": true, "litres": 0.5, "with": ["milk"], "for": .init("me")],
            alert: "Tea is ready")
        request.catchUp = .skip
        request.leeway = .seconds(30)
        alarms.add(request)
        #expect(
            try line()
                == "{\"alarm\":{\"id\":\"tea\",\"in_s\":240,\"catch_up\":\"skip\",\"leeway_s\":30,\"data\":{\"cups\":2,"
                + "\"for\":\"me\",\"hot\":true,\"kind\":\"green\",\"litres\":0.5,\"with\":[\"milk\"]},\"alert\":\"Tea is ready\"},\"ref\":1}"
        )
    }

    @Test("a number that JSON has no word for becomes null, and of a field that stands twice the last counts")
    func literals() {
        #expect(DecodedValue(Double.infinity).number == nil && DecodedValue(true).boolean == true)
        #expect(DecodedValue(["a": [1, 2]])["a"]?.list.map(\.integer) == [1, 2])
        let twice: DecodedValue = ["a": 1, "a": 2]
        #expect(twice["a"]?.integer == 2)
    }

    @Test("the poll's interval is set, and the poll is stopped")
    func polls() throws {
        fed.session.backgroundFetch.setMinimumInterval(.seconds(900))
        #expect(try line() == "{\"poll\":{\"min_interval_s\":900},\"ref\":1}")
        fed.session.backgroundFetch.stop()
        #expect(try line() == "{\"poll\":\"never\"}")
    }

    @Test("an order is awaited: the answer says what became of it and what is pending")
    func answers() async throws {
        let (scheduler, alarms, fetch) = (scheduler, alarms, fed.session.backgroundFetch)
        let submitting = Task { try await scheduler.submit(BackgroundRefreshRequest(identifier: "news")) }
        let adding = Task { try await alarms.add(AlarmRequest(identifier: "x", trigger: .every(.seconds(60)))) }
        let setting = Task { try await fetch.setMinimumInterval(.seconds(60)) }
        await fed.settle()
        fed.feed(
            notice(
                "reply",
                "{\"submit\":\"replaced\",\"pending\":[{\"source\":\"job\",\"id\":\"news\",\"state\":\"waiting\",\"waits_for\":[\"power\"]}],\"ref\":1}"
            ),
            notice(
                "error", "{\"code\":\"too-many\",\"sentence\":\"128 are set.\",\"advice\":\"Cancel one.\",\"ref\":2}"),
            notice("reply", "{\"poll\":\"of-tomorrow\",\"ref\":3}"))
        let answer = try await submitting.value
        #expect(answer.outcome == .replaced && answer.pending.map(\.identifier) == ["news"])
        #expect(answer.pending.first?.waitsFor == ["power"])
        await #expect {
            try await adding.value
        } throws: {
            let error = $0 as? BridgeError
            return error?.code == .tooMany && error?.description == "128 are set. Cancel one."
        }
        #expect(try await setting.value.pending == [])
    }

    @Test("where a region is can be asked for")
    func regionState() async throws {
        let session = fed.session
        let asking = Task { try await session.regionState(of: "home") }
        await fed.settle()
        #expect(fed.answers == ["{\"state\":{\"region\":\"home\"},\"ref\":1}"])
        fed.feed(notice("reply", "{\"state\":\"inside\",\"pending\":[],\"ref\":1}"))
        #expect(try await asking.value == .inside)
    }

    @Test("an order that is still open when the input ends fails as closed, and later ones at once")
    func closes() async {
        let scheduler = scheduler
        let asking = Task { try await scheduler.pendingTaskRequests() }
        await fed.settle()
        #expect(fed.answers == ["{\"pending\":true,\"ref\":1}"])
        fed.session.endInput()
        await #expect(throws: BridgeError.inputEnded) { try await asking.value }
        let refused = Box<BridgeError?>(nil)
        scheduler.submit(BackgroundRefreshRequest(identifier: "news")) { result in
            if case .failure(let error) = result { refused.value = error }
        }
        #expect(refused.value == .inputEnded && fed.answers == [])
    }

    @Test("what is pending is listed whole, and the jobs and the alarms of it apart")
    func lists() async throws {
        let (session, scheduler, alarms) = (fed.session, scheduler, alarms)
        let (all, jobs, set) = (
            Task { try await session.pendingRequests() }, Task { try await scheduler.pendingTaskRequests() },
            Task { try await alarms.pending() }
        )
        await fed.settle()
        let entries = ["alarm", "poll", "job"].map { "{\"source\":\"\($0)\",\"id\":\"x\",\"state\":\"waiting\"}" }
        for number in 1...3 {
            fed.feed(notice("reply", "{\"pending\":[\(entries.joined(separator: ","))],\"ref\":\(number)}"))
        }
        #expect(try await all.value.map(\.source) == [.alarm, .poll, .job])
        #expect(try await jobs.value.map(\.source) == [.job])
        #expect(try await set.value.map(\.source) == [.alarm])
    }

    @Test("an order without an answer of its own tells its refusal as an error")
    func tellsRefusals() async {
        scheduler.register(forTaskWithIdentifier: "nonsense") { _ in }
        fed.feed(
            notice("error", "{\"code\":\"not-registered\",\"sentence\":\"No such job.\",\"advice\":\"Declare it.\"}"),
            notice("reply", "{\"cancel\":\"not-pending\",\"pending\":[]}"))
        #expect(await fed.notices().errorCodes == ["not-registered"])
    }
}
