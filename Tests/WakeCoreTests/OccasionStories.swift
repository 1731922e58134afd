// Occasions: what is of no device goes to its owner alone, has the time of its class, and a long job stands beside the batch.
import Testing
import WakeModel

@testable import WakeCore

extension Scenario {
    /// An entry of the agenda, whose occasions are for the handler alone.
    func entry(_ number: UInt32, of handler: HandlerID) -> EventOrigin {
        let origin = EventOrigin(rawValue: number)
        own(origin, handler)
        step(.entry(origin, owner: handler))
        return origin
    }

    func occasion(_ origin: EventOrigin, _ name: String = "alarm.fired", _ budgetClass: BudgetClass = .data) {
        let occasion = Occasion(name: name, budgetClass: budgetClass, payload: Array("{}".utf8))
        step(.event(DeviceEvent(origin: origin, kind: .occasion(occasion), stamp: stamp, isAuthenticated: true)))
    }

    func job(_ origin: EventOrigin, longest: TimeSpan = .seconds(600)) {
        occasion(origin, "job.due", .work(longest: longest))
    }

    /// `7 acknowledged`, in order.
    func conclusions(_ id: HandlerID) -> [String] {
        log.compactMap {
            guard case .concluded(id, let sequence, let conclusion, _) = $0.effect else { return nil }
            return "\(sequence.rawValue) \(conclusion)"
        }
    }
}

@Suite("Occasions")
struct OccasionStories {
    private let job = BudgetClass.work(longest: .seconds(600))

    @Test("An alarm wakes its owner alone, is delivered like any event, and its end is told with the time awake")
    func alarm() {
        let story = Scenario()
        let (owner, other) = (story.handler(1), story.handler(2))
        let entry = story.entry(9, of: owner)
        story.occasion(entry)
        #expect(story.delivered(owner) == [1] && story.launches(other) == 0)
        #expect(story.has(owner, "idle -> active alarm"))
        story.advance(.seconds(3))
        story.say(.ack(Sequence(1), result: .useful), owner)
        #expect(story.conclusions(owner) == ["1 acknowledged(Optional(WakeModel.Reply.Result.useful))"])
        #expect(
            story.count {
                if case .concluded(owner, _, _, awake: .seconds(3)) = $0 { true } else { false }
            } == 1)
        story.close()
    }

    @Test("Whether it is launched or thawed for it, a handler is told that it has thirty seconds for a poll")
    func contentIsTold() {
        let story = Scenario()
        let handler = story.handler()
        let entry = story.entry(9, of: handler)
        var told: [TimeSpan] {
            story.log.compactMap {
                guard case .deliver(handler, _, let delivery) = $0.effect, !delivery.events.isEmpty else { return nil }
                return delivery.budget
            }
        }
        for sequence in [1, 2] as [UInt64] {
            story.occasion(entry, "poll.due", .content)
            story.acknowledge(sequence, handler)
            story.advance(.seconds(60))
        }
        #expect(story.launches(handler) == 1 && told == [.seconds(30), .seconds(30)])
        story.close()
    }

    @Test(
        "A poll has thirty seconds where a device's data has ten, and a batch has the largest time that is open in it")
    func contentTime() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        let entry = story.entry(9, of: handler)
        story.handlerSleeps(handler) {
            story.data(device)
            story.occasion(entry, "poll.due", .content)
        }
        story.advance(.seconds(27))
        #expect(story.state(handler) == .active && story.expirations(handler) == [])
        story.advance(.seconds(2))
        #expect(story.expirations(handler) == ["budget"])
        story.acknowledge(2, handler)
        story.close()
    }

    @Test("Data of a device goes on beside a long job: no event waits for the job, and none is acknowledged with it")
    func standsBeside() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        #expect(story.delivered(handler) == [1])
        for beat in 2...20 {
            story.data(device)
            #expect(story.delivered(handler).last == UInt64(beat))
            story.acknowledge(UInt64(beat), handler)
            story.advance(.seconds(2))
        }
        #expect(story.conclusions(handler) == [] && story.state(handler) == .active)
        story.acknowledge(1, handler)
        #expect(story.conclusions(handler) == ["1 acknowledged(nil)"])
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended && story.struck(handler) == 0)
        story.close()
    }

    @Test(
        "A job that reports progress runs past a minute; one whose number stays the same is ended, charged, and comes again"
    )
    func stalls() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        for done in 1...4 {
            story.advance(.seconds(50))
            story.say(.progress(Sequence(1), done: Int64(done), total: 10), handler)
        }
        story.advance(.seconds(50))
        story.say(.progress(Sequence(1), done: 4, total: 10), handler)
        #expect(story.state(handler) == .active && story.expirations(handler) == [])
        story.advance(.seconds(9))
        #expect(story.expirations(handler) == ["stalled"])
        story.advance(.seconds(4))
        #expect(story.has(handler, "expiring -> terminating stalled"))
        #expect(story.conclusions(handler) == ["1 overrun"])
        story.advance(.seconds(2))
        #expect(story.delivered(handler) == [1, 1] && story.decisions(handler).contains("charge 1 charges=1"))
        story.close()
    }

    @Test("However far it comes, a job ends when it has taken as long as it may")
    func longest() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler), longest: .seconds(120))
        for done in 1...11 {
            story.advance(.seconds(10))
            story.say(.progress(Sequence(1), done: Int64(done), total: nil), handler)
        }
        story.advance(.seconds(9))
        #expect(story.expirations(handler) == ["max-run"])
        story.acknowledge(1, handler)
        story.advance(.seconds(5))
        #expect(story.state(handler) == .suspended && story.kills(handler) == 0)
        story.close()
    }

    @Test("While a stalled job is warned, what a device says is delivered at once")
    func warnedJobDelaysNothing() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.advance(.seconds(59))
        #expect(story.state(handler) == .expiring)
        story.data(device)
        #expect(story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("The clock of a job stands still while the machine sleeps and its process is frozen")
    func sleepPauses() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        story.advance(.seconds(50))
        story.step(.systemSleep(.preparing(within: .seconds(1))))
        story.advance(.seconds(2))
        #expect(story.state(handler) == .suspended)
        story.advance(.seconds(500))
        story.step(.systemSleep(.over))
        #expect(story.state(handler) == .active)
        story.advance(.seconds(4))
        #expect(story.expirations(handler) == ["system-sleep"])
        story.advance(.seconds(4))
        #expect(story.expirations(handler) == ["system-sleep", "stalled"])
        story.close()
    }

    @Test(
        "A condition that goes while a job runs: the job is warned, nothing is charged, and it leaves the handler to its rest"
    )
    func conditionGoes() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.data(device)
        story.acknowledge(2, handler)
        story.step(.withdraw(handler, Sequence(1), .condition))
        #expect(story.expirations(handler) == ["condition"])
        story.advance(.seconds(5))
        #expect(story.conclusions(handler) == ["1 withdrawn"])
        #expect(story.state(handler) == .suspended && story.kills(handler) == 0 && story.struck(handler) == 0)
        story.close()
    }

    @Test("A job that is to make way is told so, and taken back uncharged where it does not end by itself")
    func makesWay() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.data(device)
        story.advance(.seconds(30))
        story.step(.withdraw(handler, Sequence(1), .stalled))
        #expect(story.expirations(handler).last == "stalled")
        story.advance(.seconds(5))
        #expect(story.conclusions(handler) == ["1 withdrawn"])
        #expect(story.kills(handler) == 0 && !story.decisions(handler).contains { $0.hasPrefix("charge") })
        #expect(story.decisions(handler).contains("withdraw 1 stalled"))
        story.acknowledge(2, handler)
        story.close()
    }

    @Test("Two jobs that are to end for different reasons are told of one reason each")
    func endForTwoReasons() {
        let story = Scenario()
        let handler = story.handler()
        let (one, other) = (story.entry(8, of: handler), story.entry(9, of: handler))
        story.job(one)
        story.job(other)
        story.step(.withdraw(handler, Sequence(2), .stalled))
        story.step(.withdraw(handler, Sequence(1), .condition))
        let told = story.notices(handler).compactMap {
            if case .expiring(let reason, _, _, let open) = $0 { "\(reason) \(open.map(\.rawValue))" } else { nil }
        }
        #expect(told == ["stalled [2]", "condition [1]"])
        story.advance(.seconds(5))
        #expect(story.conclusions(handler) == ["1 withdrawn", "2 withdrawn"])
        story.close()
    }

    @Test("A cancelled occasion leaves the queue of a handler at work; one that the handler has goes on, unwarned")
    func recalled() {
        let story = Scenario()
        let handler = story.handler()
        let (alarm, other) = (story.entry(8, of: handler), story.entry(9, of: handler))
        story.occasion(alarm)
        story.occasion(other)
        story.step(.recall(handler, Sequence(2)))
        #expect(story.conclusions(handler) == ["2 withdrawn"])
        story.step(.recall(handler, Sequence(1)))
        story.acknowledge(1, handler)
        #expect(story.conclusions(handler) == ["2 withdrawn", "1 acknowledged(nil)"])
        #expect(story.expirations(handler).isEmpty && story.struck(handler) == 0)
        #expect(story.decisions(handler).filter { $0.hasPrefix("recall") || $0.hasPrefix("withdraw") } == ["recall 2"])
        story.close()
    }

    @Test("A job that ends in the time of the warning has ended like any other")
    func endsWhileWarned() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        story.step(.withdraw(handler, Sequence(1), .condition))
        story.advance(.seconds(1))
        story.acknowledge(1, handler)
        story.advance(.seconds(5))
        #expect(story.conclusions(handler) == ["1 acknowledged(nil)"] && story.state(handler) == .suspended)
        story.close()
    }

    @Test("The warning names the job alone, and a job that is given back then comes again when its condition is back")
    func givenBackWhileWarned() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.data(device)
        story.step(.withdraw(handler, Sequence(1), .condition))
        let open = story.notices(handler).compactMap { if case .expiring(_, _, _, let open) = $0 { open } else { nil } }
        #expect(open == [[Sequence(1)]])
        story.say(.nack(Sequence(1), after: nil), handler)
        #expect(story.conclusions(handler) == ["1 withdrawn"] && story.state(handler) == .active)
        story.acknowledge(2, handler)
        story.close()
    }

    @Test("A long job that is acknowledged twice is over once: the second time is an error line")
    func endsOnce() {
        let story = Scenario()
        let handler = story.handler()
        story.job(story.entry(9, of: handler))
        story.acknowledge(1, handler)
        story.acknowledge(1, handler)
        #expect(story.conclusions(handler) == ["1 acknowledged(nil)"] && story.faults(handler) == [.staleLease])
        story.close()
    }

    @Test("What was not delivered yet leaves the queue when its condition goes, and is no loss")
    func withdrawnFromQueue() {
        let story = Scenario()
        let handler = story.handler()
        story.step(.power(isOnBattery: true))
        story.reconfigure(handler) { $0.requirements = [.power] }
        story.job(story.entry(9, of: handler))
        #expect(story.handlerStatus(handler)?.queuedCount == 1)
        story.step(.withdraw(handler, Sequence(1), .condition))
        #expect(story.handlerStatus(handler)?.queuedCount == 0 && story.gaps(handler) == [])
        #expect(story.conclusions(handler) == ["1 withdrawn"])
        story.close()
    }

    @Test("Handed back until a condition is true, a job is over for the core; an event of a device cannot be")
    func handedBack() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.say(.handBack(Sequence(1), until: ["network"]), handler)
        #expect(story.conclusions(handler) == ["1 handedBack(until: [\"network\"])"])
        story.data(device)
        story.say(.handBack(Sequence(2), until: ["network"]), handler)
        #expect(story.faults(handler) == [.notPermitted])
        let known = "until goes with alarms, polls, jobs, messages and transfers"
        #expect(
            story.notices(handler).contains {
                if case .error(let fault) = $0 { fault.sentence.contains(known) } else { false }
            })
        story.acknowledge(2, handler)
        story.close()
    }

    @Test("A crash charges the batch first: the job beside it comes again without a charge")
    func crashChargesBatch() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.job(story.entry(9, of: handler))
        story.say(.progress(Sequence(1), done: 1, total: nil), handler)
        story.data(device)
        story.exit(handler, .signalled(11))
        #expect(story.decisions(handler).filter { $0.hasPrefix("charge") } == ["charge 2 charges=1"])
        #expect(story.conclusions(handler) == ["1 crashed"])
        story.advance(.seconds(2))
        #expect(story.delivered(handler) == [1, 2, 1, 2])
        story.close()
    }

    @Test("A nacked alarm comes again after its time, and keeps no other alarm of the handler waiting")
    func nacks() {
        let story = Scenario()
        let handler = story.handler()
        let (first, second) = (story.entry(8, of: handler), story.entry(9, of: handler))
        story.occasion(first)
        story.say(.nack(Sequence(1), after: .seconds(60)), handler)
        story.occasion(second)
        #expect(story.delivered(handler) == [1, 2])
        story.acknowledge(2, handler)
        story.advance(.seconds(61))
        #expect(story.delivered(handler) == [1, 2, 1])
        story.close()
    }

    @Test("No launch before the gates are open, whatever comes; what came meanwhile is delivered then")
    func gated() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { settings in
            settings.hasGates = true
            settings.startsAtBoot = true
        }
        story.data(device)
        story.operate(.attach, handler)
        story.operate(.wake, handler)
        story.occasion(story.entry(9, of: handler))
        story.advance(.seconds(600))
        #expect(story.launches(handler) == 0)
        story.step(.gate(handler, isOpen: true))
        #expect(story.launches(handler) == 1 && story.delivered(handler) == [1, 2])
        story.close()
    }

    @Test("What a stopped handler had waiting is dropped and told to the one that scheduled it")
    func stopped() {
        let story = Scenario()
        let handler = story.handler()
        story.step(.power(isOnBattery: true))
        story.reconfigure(handler) { $0.requirements = [.power] }
        story.occasion(story.entry(9, of: handler))
        story.operate(.stop, handler)
        #expect(story.conclusions(handler) == ["1 dropped"])
        story.close()
    }

    @Test("A oneshot is given its job, is warned of nothing, and its exit is the answer")
    func oneshot() {
        let story = Scenario()
        let handler = story.handler { $0.lifecycle = .oneshot }
        story.job(story.entry(9, of: handler))
        story.advance(.seconds(40))
        #expect(story.state(handler) == .active)
        story.exit(handler)
        #expect(story.conclusions(handler) == ["1 acknowledged(nil)"] && story.struck(handler) == 0)
        story.close()
    }

    @Test("Progress of what is no long job, or of what was answered, is an error line and nothing more")
    func falseProgress() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.progress(Sequence(1), done: 1, total: nil), handler)
        story.acknowledge(1, handler)
        story.say(.progress(Sequence(1), done: 1, total: nil), handler)
        story.say(.progress(Sequence(7), done: 1, total: nil), handler)
        #expect(story.faults(handler) == [.notPermitted, .staleLease, .notDelivered])
        story.close()
    }
}

extension Scenario {
    /// What happens while the handler may not be woken comes in one batch.
    fileprivate func handlerSleeps(_ handler: HandlerID, while body: () -> Void) {
        step(.systemSleep(.preparing(within: .zero)))
        body()
        step(.systemSleep(.over))
    }
}
