// When a device is asked what: stories of one schedule in virtual time, and a walk through all that may befall it.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

private func question(_ byte: UInt8) -> AskPlan.Question { .init(to: .serial, bytes: [byte]) }

private func poll(_ byte: UInt8, every seconds: Int64, _ when: AskPlan.Poll.When = .awake) -> AskPlan.Poll {
    .init(question(byte), every: .seconds(seconds), when: when)
}

/// A schedule, and what it wrote and told when.
private struct Asked {
    var schedule: AskSchedule
    private(set) var now = Instant.zero + .seconds(100)
    private(set) var asked: [AskedQuestion] = []
    private(set) var words: [String] = []
    /// Whether each write is taken at once.
    var takes = true

    init(start: [AskPlan.Question] = [], poll: [AskPlan.Poll] = []) {
        schedule = AskSchedule(AskPlan(start: start, poll: poll))
    }

    mutating func take(_ input: AskSchedule.Input) {
        for effect in schedule.step(input, at: now) {
            switch effect {
            case .write(let next):
                asked.append(next)
                words.append("\(next.question.bytes[0])")
                if takes { take(.written(next.number, .taken)) }
            case .tell(.silent): words.append("silent")
            case .tell(.refused(let why)): words.append("refused \(why)")
            }
        }
    }

    mutating func refuse(_ why: String = "no") { take(.written(asked.last?.number ?? 0, .refused(why))) }

    mutating func wait(_ milliseconds: Int64) {
        let end = now + .milliseconds(milliseconds)
        while let due = schedule.deadline, due <= end {
            now = max(now, due)
            take(.tick)
            if let next = schedule.deadline, next <= now {
                Issue.record("a schedule whose time has come must move")
                break
            }
        }
        now = end
    }

    /// What was written and told since the last look.
    mutating func news() -> [String] {
        defer { words = [] }
        return words
    }
}

@Suite("When a device is asked")
struct AskStories {
    @Test("what is asked at the start is asked once, in its order, each when the one before is answered")
    func start() {
        var story = Asked(start: [question(1), question(2)])
        story.take(.answered)
        #expect(story.news() == [])
        story.take(.armed)
        #expect(story.news() == ["1"])
        story.take(.answered)
        #expect(story.news() == ["2"])
        story.take(.answered)
        story.wait(600_000)
        #expect(story.news() == [] && story.schedule.deadline == nil)
        story.take(.left)
        story.take(.armed)
        #expect(story.news() == ["1"], "and again on the next link")
    }

    @Test("a poll is asked at once and then at its pace, and only while a handler is awake unless it says always")
    func polls() {
        var story = Asked(poll: [poll(1, every: 10), poll(2, every: 60, .always)])
        story.take(.armed)
        #expect(story.news() == ["2"])
        story.take(.answered)
        story.wait(20_000)
        #expect(story.news() == [])
        story.take(.awake(true))
        #expect(story.news() == ["1"])
        story.take(.answered)
        story.wait(9_999)
        #expect(story.news() == [])
        story.wait(1)
        #expect(story.news() == ["1"])
        story.take(.answered)
        story.take(.awake(false))
        story.take(.awake(true))
        #expect(story.news() == [], "who wakes again soon does not ask before its time")
        story.take(.awake(false))
        story.wait(30_000)
        #expect(story.news() == ["2"])
    }

    @Test("one question is under way at a time: the next waits for an answer, or for two seconds of silence")
    func one() {
        var story = Asked(poll: [poll(1, every: 1, .always), poll(2, every: 1, .always)])
        story.take(.armed)
        story.wait(1_999)
        #expect(story.news() == ["1"])
        story.wait(1)
        #expect(story.news() == ["silent", "2"])
        story.take(.answered)
        #expect(story.news() == ["1"])
        story.take(.answered)
        story.wait(999)
        #expect(story.news() == [])
    }

    @Test("that a device does not answer is told once, also over links, until it has answered; asking goes on")
    func silence() {
        var story = Asked(poll: [poll(1, every: 5, .always)])
        story.take(.armed)
        story.wait(11_000)
        #expect(story.news() == ["1", "silent", "1", "1"])
        #expect(story.schedule.trouble == .silent)
        story.take(.left)
        story.take(.armed)
        story.wait(4_000)
        #expect(story.news() == ["1"])
        story.wait(1_000)
        story.take(.answered)
        #expect(story.schedule.trouble == nil)
        story.take(.left)
        story.take(.armed)
        story.wait(3_000)
        #expect(story.news() == ["1", "1", "silent"])
    }

    @Test("the two seconds begin when the write is taken; one that is not taken keeps the next, and is told of too")
    func slowWrites() {
        var story = Asked(poll: [poll(1, every: 1, .always)])
        story.takes = false
        story.take(.armed)
        story.wait(2_000)
        #expect(story.news() == ["1", "silent"])
        story.wait(60_000)
        #expect(story.news() == [] && story.schedule.deadline == nil)
        story.take(.written(1, .taken))
        story.take(.answered)
        #expect(story.news() == ["1"])
        // An answer may come before it is told that the write was taken.
        story.take(.answered)
        story.wait(1_000)
        #expect(story.news() == [])
        story.take(.written(2, .taken))
        #expect(story.news() == ["1"])
    }

    @Test("a question of the start that is refused is tried three times, two seconds apart; a poll at its next time")
    func refusals() {
        var story = Asked(start: [question(1)], poll: [poll(2, every: 10, .always)])
        story.takes = false
        story.take(.armed)
        story.refuse()
        #expect(story.news() == ["1", "refused no"])
        for _ in 0..<2 {
            story.wait(1_999)
            #expect(story.news() == [])
            story.wait(1)
            #expect(story.news() == ["1"])
            story.refuse()
        }
        #expect(story.news() == ["2"])
        story.refuse()
        #expect(story.schedule.trouble == .refused("no"))
        story.wait(9_999)
        #expect(story.news() == [])
        story.wait(1)
        story.take(.written(5, .taken))
        #expect(story.news() == ["2"] && story.schedule.trouble == nil)
    }

    @Test("what becomes of a write on a link that has ended is nothing of the next link")
    func lateAnswers() {
        var story = Asked(start: [question(1), question(2)])
        story.takes = false
        story.take(.armed)
        story.take(.left)
        story.take(.written(1, .unreachable))
        #expect(story.news() == ["1"] && story.schedule.deadline == nil && story.schedule.trouble == nil)
        story.take(.armed)
        story.take(.written(1, .taken))
        story.take(.answered)
        #expect(story.news() == ["1"], "the write of this link is not taken yet")
    }

    @Test("who asks nothing has no deadline and moves nothing")
    func empty() {
        var story = Asked()
        for input in [AskSchedule.Input.armed, .awake(true), .answered, .tick] { story.take(input) }
        #expect(story.news() == [] && story.schedule.deadline == nil && !story.schedule.isArmed)
    }

    @Test("1000 lives of a schedule: no two questions at once, none before its time or unwanted, none forgotten")
    func walk() {
        var questions = 0
        for seed in 0..<1_000 as Range<UInt64> { questions += AskWalk(seed).run() }
        #expect(questions > 5_000)
    }
}

/// A schedule beside a device that answers, or does not, and a link that comes and goes.
private final class AskWalk {
    private var dice: Dice
    private let plan: AskPlan
    private var schedule: AskSchedule
    private var now = Instant.zero
    private var isArmed = false
    private var isAwake = false
    private var place = 0
    private var refusals = 0
    private var open: (number: Int, isStart: Bool, takenAt: Instant?, isAnswered: Bool)?
    private var lastAsked: [UInt8: Instant] = [:]
    private var count = 0

    init(_ seed: UInt64) {
        var dice = Dice(seed)
        let start = (0..<dice.below(4)).map { question(UInt8($0)) }
        let polls = (0..<dice.below(4)).map { index in
            poll(UInt8(100 + index), every: Int64(1 + dice.below(20)), dice.isOne(in: 2) ? .always : .awake)
        }
        plan = AskPlan(start: start, poll: polls)
        schedule = AskSchedule(plan)
        self.dice = dice
    }

    func run() -> Int {
        for _ in 0..<300 {
            befall()
            pass(.milliseconds(Int64(dice.below(3_000))))
        }
        return count
    }

    private func befall() {
        switch dice.below(8) {
        case 0: if dice.isOne(in: 3) { isArmed ? leave() : arm() } else if !isArmed { arm() }
        case 1:
            isAwake.toggle()
            take(.awake(isAwake))
        case 2, 3, 4:
            open?.isAnswered = true
            take(.answered)
        case 5, 6: settle(.taken)
        default: if dice.isOne(in: 4) { settle(dice.isOne(in: 2) ? .refused("no") : .unreachable) }
        }
    }

    private func arm() {
        (isArmed, place, refusals, lastAsked) = (true, 0, 0, [:])
        take(.armed)
    }

    private func leave() {
        (isArmed, open) = (false, nil)
        take(.left)
    }

    private func settle(_ fate: AskSchedule.Fate) {
        guard let asked = open, asked.takenAt == nil else { return take(.written(0, fate)) }
        if fate == .taken {
            open?.takenAt = now
        } else {
            open = nil
            if asked.isStart {
                refusals += 1
                if refusals == 3 { (place, refusals) = (place + 1, 0) }
            }
        }
        take(.written(asked.number, fate))
    }

    private func pass(_ span: TimeSpan) {
        let end = now + span
        while let due = schedule.deadline, due <= end {
            now = max(now, due)
            take(.tick)
            #expect(schedule.deadline.map { $0 > now } ?? true, "it spins")
        }
        now = end
    }

    private func take(_ input: AskSchedule.Input) {
        for effect in schedule.step(input, at: now) {
            if case .write(let asked) = effect { record(asked) }
        }
        let isIdle = open.map { isOver($0) } ?? true
        if isArmed, isIdle, place == plan.start.count, !plan.isEmpty { expectNoneOverdue() }
    }

    private func isOver(_ one: (number: Int, isStart: Bool, takenAt: Instant?, isAnswered: Bool)) -> Bool {
        guard let taken = one.takenAt else { return false }
        return one.isAnswered || now >= taken + AskSchedule.patience
    }

    private func record(_ asked: AskedQuestion) {
        count += 1
        let byte = asked.question.bytes[0]
        #expect(isArmed, "asked on no link")
        if let open {
            #expect(isOver(open), "two at once")
            if open.isStart { (place, refusals) = (place + 1, 0) }
        }
        if byte < 100 {
            #expect(Int(byte) == place, "out of order")
        } else {
            let poll = plan.poll[Int(byte) - 100]
            #expect(place == plan.start.count, "a poll before the start was over")
            #expect(poll.when == .always || isAwake, "asked while no handler is awake")
            if let last = lastAsked[byte] { #expect(now - last >= poll.every, "asked too soon") }
            lastAsked[byte] = now
        }
        open = (asked.number, byte < 100, nil, false)
    }

    /// Where nothing is under way, all that may be asked was asked within its time.
    private func expectNoneOverdue() {
        for (index, poll) in plan.poll.enumerated() where poll.when == .always || isAwake {
            let last = lastAsked[UInt8(100 + index)]
            #expect(last.map { now - $0 < poll.every } ?? false, "a poll was forgotten")
        }
    }
}
