// Random days of many handlers: what must be true after every single step of the agenda, whatever happens.
import Testing
import WakeModel

@testable import WakeAgenda

/// Numbers that a seed decides.
private struct Dice {
    var state: UInt64

    mutating func roll(_ count: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(count))
    }

    mutating func pick<Element>(_ list: [Element]) -> Element { list[roll(list.count)] }
}

/// A world to which chance happens, and its judge.
private struct Script {
    var world = AgendaWorld()
    var dice: Dice
    let canReboot: Bool
    /// Of what handlers submitted, the earliest begin; and of what a person started or was handed back, nothing.
    private var earliest: [AgendaKey: Instant] = [:]
    private var free: Set<AgendaKey> = []
    private var lastPoll: [HandlerID: Instant] = [:]
    private var floors: [HandlerID: TimeSpan] = [:]
    private var judged = 0
    /// What was refused, until it is given again.
    private var resting: [Sequence: Instant] = [:]
    /// Of entries that waited at the last look, when each was due.
    private var dues: [AgendaKey: [Instant]] = [:]
    /// Alarms that were handed back, and not raised since.
    private var handedBack: Set<AgendaKey> = []
    /// Of alarms that are overdue, the first time that was.
    private var overdueSince: [AgendaKey: WallTime] = [:]
    /// Of these a second run is pending.
    private var twice: Set<AgendaKey> = []
    private(set) var faults: [String] = []

    private static let manifests = [
        "{jobs: [{id: 'a', kind: 'processing', require: ['power']}, {id: 'b', kind: 'refresh'}], poll: {min_interval: '10m'}, alarms: [{id: 'm', every: '10m'}]}",
        "{jobs: [{id: 'a', kind: 'processing', every: '20m', require: ['network', 'idle'], deadline: '1h', on_deadline: 'skip'}]}",
        "{after: ['mount:/data'], jobs: [{id: 'a', kind: 'refresh', every: '15m'}, {id: 'c', kind: 'continued'}], alarms: [{id: 'l', every: '15m', leeway: '5m'}]}",
        "{poll: {min_interval: '5m', max_interval: '1h', require: ['network', 'cool']}, jobs: [{id: 'a', kind: 'processing', every: '30m', require: ['power'], deadline: '10m'}], alarms: []}",
    ]
    private static let handlers = (1...4).map { HandlerID(rawValue: UInt32($0)) }
    private static let conditions: [Condition] = [.power, .network, .idle, .cool, .mount("/data")]
    private static let conclusions: [Conclusion] = [
        .acknowledged(.useful), .acknowledged(.nothing), .acknowledged(nil), .acknowledged(.failed), .deadLettered,
        .crashed, .overrun, .dropped, .withdrawn, .handedBack(until: ["network"]), .handedBack(until: []),
        .givenBack(until: nil),
    ]
    /// One in two is awake or attached.
    private static let situations: [HandlerSituation] = [
        .asleep, .awake, .awake, .attached, .attached, .stopped, .quarantined,
    ]

    init(seed: UInt64, canReboot: Bool) throws {
        (dice, self.canReboot) = (Dice(state: seed), canReboot)
        for (handler, manifest) in zip(Self.handlers, Self.manifests) { try world.configure(manifest, of: handler) }
        floors = [Self.handlers[0]: .seconds(600), Self.handlers[3]: .seconds(300)]
        judge()
    }

    mutating func run(_ steps: Int) throws {
        for _ in 0..<steps where faults.isEmpty {
            try act()
            judge()
        }
    }

    private mutating func act() throws {
        switch dice.roll(20) {
        case 0...5: world.pass(.seconds(Int64(dice.pick([1, 5, 11, 60, 300, 900, 3600]))))
        case 6...8: world.set(dice.pick(Self.conditions), dice.roll(3) > 0)
        case 9...10: conclude()
        case 11: dice.roll(2) == 0 ? refuse() : conclude()
        case 12...13: try submit()
        case 14: situate()
        case 15: try order()
        case 16: dice.roll(3) == 0 ? cancel() : operate()
        case 17: world.send(.overridden(dice.pick(Self.conditions), isTrue: dice.pick([nil, nil, true, false])))
        case 18: world.sleep(.seconds(Int64(dice.pick([1, 60, 1200, 8000]))))
        default: try restart()
        }
    }

    private mutating func conclude() {
        guard !world.held.isEmpty else { return }
        let sequence = dice.pick(world.heldSequences)
        // What rests is in no process, so it can only be lost.
        let conclusion = isResting(sequence) ? .dropped : dice.pick(Self.conclusions)
        resting[sequence] = nil
        if case .handedBack = conclusion, let key = world.held[sequence]?.key { handedBack.insert(key) }
        world.conclude(sequence, conclusion, awake: .seconds(Int64(dice.roll(3))), cpu: .milliseconds(200))
    }

    private mutating func situate() {
        let held = HandlerSituation.held(until: world.moment.boottime + .seconds(Int64(dice.pick([1, 30, 3600]))))
        world.send(.situated(dice.pick(Self.handlers), dice.roll(8) == 0 ? held : dice.pick(Self.situations)))
    }

    /// Its handler refuses it: it comes again after a while.
    private mutating func refuse() {
        guard !world.held.isEmpty else { return }
        let sequence = dice.pick(world.heldSequences)
        let end = world.moment.boottime + .seconds(Int64(dice.pick([1, 60, 7200])))
        resting[sequence] = end
        world.conclude(sequence, .givenBack(until: end))
    }

    private mutating func submit() throws {
        let handler = dice.pick(Self.handlers)
        let id = dice.pick(["a", "b", "c"])
        let (wait, more) = (dice.pick([0, 30, 400, 4000]), dice.pick([1, 600, 9000]))
        let require = dice.pick(["[]", "[\"power\"]", "[\"mount:/data\",\"network\"]"])
        let strategy = wait == 0 ? dice.pick(["queue", "fail"]) : "queue"
        let text =
            "{\"submit\":{\"job\":\"\(id)\",\"not_before_s\":\(wait),\"deadline_s\":\(wait + more),\"require\":\(require),\"strategy\":\"\(strategy)\"}}"
        let key = AgendaKey(handler, .job, id)
        let wasRaised = world.held.values.contains { $0.key == key }
        let now = world.moment.boottime
        if try world.order(text, of: handler).word != nil {
            // What is ordered meanwhile comes after the earlier run, or with it where that comes back.
            if wasRaised { free.insert(key) } else { earliest[key] = now + .seconds(Int64(wait)) }
            if !wasRaised { free.remove(key) }
        }
    }

    private mutating func order() throws {
        let handler = dice.pick(Self.handlers)
        let text = dice.pick([
            "{\"cancel\":{\"job\":\"a\"}}", "{\"cancel\":{\"jobs\":true}}", "{\"poll\":\"never\"}",
            "{\"poll\":{\"min_interval_s\":900}}", "{\"poll\":{\"min_interval_s\":60}}", "{\"pending\":true}",
            "{\"register\":\"a\"}", "{\"submit\":{}}", "{\"alarm\":{\"id\":\"x\",\"in_s\":300}}",
            "{\"alarm\":{\"id\":\"y\",\"every_s\":120}}", "{\"cancel\":{\"alarm\":\"x\"}}",
            "{\"cancel\":{\"alarms\":true}}",
        ])
        if text.contains("cancel") { for id in ["a", "b", "c"] { earliest[AgendaKey(handler, .job, id)] = nil } }
        try world.order(text, of: handler)
    }

    private mutating func operate() {
        let handler = dice.pick(Self.handlers)
        let key = dice.pick([AgendaKey(handler, .job, "a"), AgendaKey(handler, .poll, "")])
        free.insert(key)
        world.send(.operated(key, ref: nil))
    }

    private mutating func cancel() {
        let key = AgendaKey(dice.pick(Self.handlers), .job, dice.pick(["a", "b", "c"]))
        earliest[key] = nil
        world.send(.cancelled(key))
    }

    private mutating func restart() throws {
        let before = world.pending
        switch canReboot ? dice.roll(3) : 0 {
        case 0:
            world.restart()
            // As the stage tells it, by what the journal keeps.
            for (sequence, end) in resting.sorted(by: { $0.key < $1.key }) {
                world.conclude(sequence, .givenBack(until: end))
            }
            // How long something was put off is not stored.
            overdueSince = [:]
            // Since when the machine is up is no row's to say: what was spread begins at once.
            if world.moment.boottime - world.cameUpAt > .seconds(30) { compare(before, world.pending) }
        case 1:
            world.reboot(off: .seconds(Int64(dice.roll(5000))), synchronized: dice.roll(2) == 0)
            (earliest, lastPoll, resting, overdueSince) = ([:], [:], [:], [:])
        default:
            world.isSynchronized = true
            world.send(.clockChanged)
        }
        for (number, handler) in Self.handlers.enumerated() where dice.roll(8) == 0 {
            try world.configure(Self.manifests[number], of: handler)
        }
    }

    /// What a restart must keep. What only memory held is left out: progress, history, and since when one waits.
    private mutating func compare(_ before: [PendingEntry], _ after: [PendingEntry]) {
        // It ends the rest of alarms that were handed back.
        let (before, after) = (
            before.filter { !handedBack.contains($0.key) }, after.filter { !handedBack.contains($0.key) }
        )
        guard before.map(\.key) == after.map(\.key) else {
            return complain("a restart lists \(after.map(\.key)) instead of \(before.map(\.key))")
        }
        for (old, new) in zip(before, after) {
            // What was pressed is queued again, and taken back at once, while a condition is played to be false.
            let isRevoked = old.state != .waiting && new.state == .waiting && world.played.values.contains(false)
            let isSame =
                (old.state == .waiting) == (new.state == .waiting) && old.due == new.due && old.deadline == new.deadline
                && old.sequence == new.sequence && old.interval == new.interval || isRevoked
            var lost = Set(old.waitsFor.map(\.word)).subtracting(new.waitsFor.map(\.word))
            // It waits for a slot alone again once its conditions have settled again.
            if !new.waitsFor.isEmpty { lost.remove("slot") }
            if !isSame || !lost.isEmpty { complain("a restart makes \(brief(new)) of \(brief(old))") }
        }
    }

    private func brief(_ entry: PendingEntry) -> String {
        let words = entry.waitsFor.map(\.word).joined(separator: "+")
        return "\(entry.key.handler.rawValue)/\(entry.key.id) \(entry.state) due=\(entry.due?.rfc3339 ?? "-")"
            + " deadline=\(entry.deadline?.rfc3339 ?? "-") \(words) next=\(entry.nextChance?.rfc3339 ?? "-") now=\(world.wall.rfc3339)"
            + " last=\(entry.history.suffix(4).map(\.sentence))"
    }

    private mutating func complain(_ fault: String) { faults.append(fault) }
}

// What must be true.
extension Script {
    mutating func judge() {
        for item in world.raised[judged...] { judge(item) }
        judged = world.raised.count
        let pending = world.pending
        twice = Set(zip(pending, pending.dropFirst()).filter { $0.key == $1.key }.map(\.0.key))
        for entry in pending { entry.state == .waiting ? judge(entry) : judge(raised: entry) }
        judgeSlots()
        dues = [:]
        for entry in pending where entry.state == .waiting {
            guard let due = entry.due else { continue }
            dues[entry.key, default: []].append(world.moment.boottime - world.wall.elapsed(since: due))
        }
        if pending.contains(where: { entry in entry.waitsFor.contains { $0.word == "time" } && entry.waitsFor.count == 1
        }),
            world.agenda.nextBoottimeDeadline == nil
        {
            complain("an entry waits for time, and there is no deadline")
        }
    }

    /// Never before its time, and never while its handler is stopped or gated.
    private mutating func judge(_ item: AgendaWorld.Raised) {
        let handler = item.key.handler
        if world.situations[handler]?.obstacle != nil, item.at == world.moment.boottime {
            complain("raised while stopped: \(item.key)")
        }
        if isWork(item), let end = holdEnd(of: handler), item.at < end {
            complain("a long job is raised while its handler is held: \(item.key)")
        }
        if world.gates[handler] == false { complain("raised while gated: \(item.key)") }
        if item.key.source == .alarm {
            let due = (try? JSONValue(parsing: item.occasion.payload))?["due"]?.string.flatMap { WallTime(rfc3339: $0) }
            if due.map({ $0 > world.wall }) ?? true { complain("raised before it was due: \(item.key)") }
            (handedBack, overdueSince[item.key]) = (handedBack.subtracting([item.key]), nil)
        } else if item.key.source == .poll {
            if let last = lastPoll[handler], let floor = floors[handler], !free.contains(item.key), !item.isAgain,
                item.at - last < floor
            {
                complain("polled again after \((item.at - last).spoken)")
            }
            lastPoll[handler] = item.at
        } else if let earliest = earliest[item.key], !free.contains(item.key), !item.isAgain, item.at < earliest {
            // The manifest's schedule goes on before what is ordered for later.
            guard !(dues[item.key] ?? []).contains(where: { $0 <= item.at + .milliseconds(1) }) else { return }
            complain("raised before its earliest begin: \(item.key)")
        }
        if item.key.source == .job { earliest[item.key] = nil }
        if !world.held.values.contains(where: { $0.key == item.key }) { free.remove(item.key) }
    }

    private func isWork(_ item: AgendaWorld.Raised) -> Bool {
        if case .work = item.occasion.budgetClass { true } else { false }
    }

    private func holdEnd(of handler: HandlerID) -> Instant? {
        guard case .held(let until)? = world.situations[handler], world.moment.boottime < until else { return nil }
        return until
    }

    private func isAwake(_ handler: HandlerID) -> Bool {
        world.situations[handler] == .awake || world.situations[handler] == .attached
    }

    private func isResting(_ sequence: Sequence?) -> Bool {
        sequence.flatMap { resting[$0] }.map { world.moment.boottime < $0 } ?? false
    }

    /// No slot is held by what cannot run, and what runs has one.
    private mutating func judgeSlots() {
        for key in world.agenda.jobs.working {
            guard let found = world.held.first(where: { $0.value.key == key }) else {
                complain("\(key) holds a slot, and is not raised")
                continue
            }
            let isBarred = world.situations[key.handler]?.obstacle != nil
            if isBarred || holdEnd(of: key.handler) != nil || isResting(found.key) {
                complain("\(key) holds a slot, and cannot run")
            }
        }
        for (sequence, item) in world.held where isWork(item) && isAwake(item.key.handler) && !isResting(sequence) {
            if !world.agenda.jobs.working.contains(item.key) { complain("\(item.key) runs without a slot") }
        }
    }

    /// What is queued or runs is with the core; where its handler cannot have it, a true word says so.
    private mutating func judge(raised entry: PendingEntry) {
        guard let sequence = entry.sequence, world.held[sequence]?.key == entry.key else {
            return complain("is said to be raised, and is not: \(brief(entry))")
        }
        for wait in entry.waitsFor where !isTrue(wait.word, entry) {
            complain("waits for \(wait.word), which is not so: \(brief(entry))")
        }
        let handler = entry.key.handler
        let canRun = world.situations[handler]?.obstacle == nil && holdEnd(of: handler) == nil && !isResting(sequence)
        if !canRun, entry.waitsFor.isEmpty { complain("cannot run, and does not say why: \(brief(entry))") }
        if isResting(sequence), entry.state == .running { complain("is said to run, and rests: \(brief(entry))") }
    }

    /// Each reason is true, there is one, and after the deadline one of them is hard.
    private mutating func judge(_ entry: PendingEntry) {
        if entry.waitsFor.isEmpty { complain("waits for nothing: \(brief(entry))") }
        for wait in entry.waitsFor where !isTrue(wait.word, entry) {
            complain("waits for \(wait.word), which is not so: \(brief(entry))")
        }
        if entry.key.source == .alarm { return judge(alarm: entry) }
        guard let deadline = entry.deadline else { return complain("has no deadline: \(entry.key)") }
        // What was handed back beyond its deadline rests first.
        let due = entry.due ?? deadline
        let late = max(deadline, spreadEnd(due), due) + .seconds(1)
        if world.wall > late, !entry.waitsFor.contains(where: { isHard($0.word) }) {
            complain("past its deadline without a hard reason: \(brief(entry))")
        }
    }

    /// One that waits for time alone waits no longer than its leeway, and its spread after one nap.
    private mutating func judge(alarm entry: PendingEntry) {
        guard let due = entry.due, due <= world.wall, !handedBack.contains(entry.key),
            entry.waitsFor.allSatisfy({ $0.word == "time" })
        else {
            overdueSince[entry.key] = nil
            return
        }
        let first = overdueSince[entry.key] ?? due
        overdueSince[entry.key] = first
        let leeway = TimeSpan.seconds(entry.key.id == "l" ? 300 : 0)
        let late = max(first, spreadEnd(first)) + leeway + .seconds(1)
        if world.wall > late { complain("overdue for too long: \(brief(entry))") }
    }

    /// What is due is spread over half a minute when the machine comes up after it, once.
    private func spreadEnd(_ due: WallTime) -> WallTime {
        let instant = world.moment.boottime + due.elapsed(since: world.wall)
        guard let up = world.cameUps.first(where: { $0 > instant }) else { return due }
        return world.wall + (up - world.moment.boottime) + .seconds(30)
    }

    private func isHard(_ word: String) -> Bool {
        if let condition = try? Condition(word: word) { return condition.isHard }
        return word != "time"
    }

    private func isTrue(_ word: String, _ entry: PendingEntry) -> Bool {
        let handler = entry.key.handler
        switch word {
        case "time": return entry.nextChance.map { $0 > world.wall } ?? (entry.due.map { $0 > world.wall } ?? false)
        case "stopped": return world.situations[handler] == .stopped
        case "quarantined": return world.situations[handler] == .quarantined
        case "held": return holdEnd(of: handler) != nil
        case "gate": return world.gates[handler] == false
        case "attached": return world.situations[handler] != .attached
        case "earlier-run":
            let isRaised = world.held.values.contains { $0.key == entry.key }
            return twice.contains(entry.key) || entry.key.source == .alarm && isRaised
        case "slot":
            return world.held.values.filter { if case .work = $0.occasion.budgetClass { true } else { false } }.count
                >= 2
        default: return (try? Condition(word: word)).map { !isSettled($0) } ?? false
        }
    }

    /// By the world's own reckoning, which shares nothing with the agenda's.
    private func isSettled(_ condition: Condition) -> Bool {
        if let played = world.played[condition] { return played }
        guard let opened = world.open[condition], let truth = world.truth[condition], truth.isTrue else { return false }
        return world.moment.monotonic - max(opened, truth.since) >= condition.settle
    }
}

@Suite("Random days of the agenda")
struct AgendaScriptTests {
    @Test(
        "in 800 random days every waiting entry has a true reason, none is early, and none is raised while it may not be",
        arguments: 0..<4)
    func holds(part: Int) throws {
        for seed in 0..<200 {
            var script = try Script(seed: UInt64(part * 200 + seed), canReboot: false)
            try script.run(25)
            #expect(script.faults == [], "seed \(part * 200 + seed)")
            if !script.faults.isEmpty { return }
        }
    }

    @Test("the same holds in 200 random weeks in which the machine boots, with a right clock or a wrong one")
    func holdsOverReboots() throws {
        for seed in 0..<200 {
            var script = try Script(seed: UInt64(10_000 + seed), canReboot: true)
            try script.run(40)
            #expect(script.faults == [], "seed \(10_000 + seed)")
            if !script.faults.isEmpty { return }
        }
    }

    @Test("the same script twice has the same effects, to the last one")
    func repeats() throws {
        for seed in 0..<20 {
            var (one, other) = (
                try Script(seed: UInt64(seed), canReboot: true), try Script(seed: UInt64(seed), canReboot: true)
            )
            try one.run(60)
            try other.run(60)
            #expect(one.world.effects == other.world.effects && one.world.effects.count > 20)
        }
    }
}
