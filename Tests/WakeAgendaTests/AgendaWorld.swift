// A world around an agenda, for tests: three clocks, conditions, a core that numbers what is raised, and a database.
import Testing
import WakeModel

@testable import WakeAgenda

struct AgendaWorld {
    /// What the core holds of one occasion.
    struct Raised: Equatable {
        var key: AgendaKey
        var occasion: Occasion
        var at: Instant
        /// It was raised before, and came back.
        var isAgain = false
    }

    private(set) var agenda = Agenda(seed: 7)
    private(set) var moment = Moment(monotonic: .seconds(100), boottime: .seconds(100))
    var wall = WallTime(rfc3339: "2026-06-01T00:00:00Z") ?? WallTime(microseconds: 0)
    var isSynchronized = true
    private(set) var boot = 1
    /// When it booted or resumed, in this boot.
    private(set) var cameUps = [Instant.seconds(100)]
    var cameUpAt: Instant { cameUps.last ?? .zero }

    /// What is true of the machine; a condition that stands in neither list is false.
    private(set) var truth: [Condition: (isTrue: Bool, since: Instant)] = [:]
    private(set) var open: [Condition: Instant] = [:]
    private(set) var played: [Condition: Bool] = [:]
    private(set) var gates: [HandlerID: Bool] = [:]
    private(set) var situations: [HandlerID: HandlerSituation] = [:]
    private(set) var plans: [HandlerID: AgendaPlan] = [:]
    private(set) var rows: [AgendaKey: [UInt8]] = [:]
    /// What the core holds and has not concluded.
    private(set) var held: [Sequence: Raised] = [:]
    /// All that was ever raised.
    private(set) var raised: [Raised] = []
    /// The handler is awake with an open batch: the core keeps what is raised.
    var isAtWork = false
    /// The process has it still: nothing takes it back.
    private var kept: Sequence?
    private(set) var effects: [AgendaEffect] = []
    private var lastSequence: UInt64 = 0
    private var returned: Set<AgendaKey> = []

    var stamp: Stamp { Stamp(moment: moment, wall: wall, isClockSynchronized: isSynchronized) }
    var bootID: String { "boot-\(boot)" }

    init(restored: Bool = true) {
        if restored { send(.restored([], bootID: bootID)) }
    }
}

extension Instant {
    static func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }
}

// What happens in it.
extension AgendaWorld {
    /// Gives the agenda an input, and carries out what it asks for until it is quiet. Answers with all of that.
    @discardableResult
    mutating func send(_ input: AgendaInput) -> [AgendaEffect] {
        keep(input)
        var (inputs, all): ([AgendaInput], [AgendaEffect]) = ([input], [])
        while !inputs.isEmpty {
            let effects = agenda.step(inputs.removeFirst(), at: stamp)
            for effect in effects { inputs += perform(effect) }
            all += effects
        }
        effects += all
        return all
    }

    private mutating func keep(_ input: AgendaInput) {
        switch input {
        case .configured(let handler, let plan): plans[handler] = plan
        case .removed(let handler): (plans[handler], gates[handler]) = (nil, nil)
        case .situated(let handler, let situation): situations[handler] = situation
        case .overridden(let condition, let isTrue): played[condition] = isTrue
        default: break
        }
    }

    private mutating func perform(_ effect: AgendaEffect) -> [AgendaInput] {
        switch effect {
        case .raise(let key, let occasion), .report(let key, let occasion, _):
            lastSequence += 1
            let isAgain = returned.remove(key) != nil
            let item = Raised(key: key, occasion: occasion, at: moment.boottime, isAgain: isAgain)
            held[Sequence(lastSequence)] = item
            raised.append(item)
            return [.raised(key, Sequence(lastSequence))]
        case .withdraw(let handler, let sequence):
            guard let item = held.removeValue(forKey: sequence) else { return [] }
            returned.insert(item.key)
            return [.concluded(handler, sequence, .withdrawn, awake: .zero, cpu: .zero)]
        case .recall(let handler, let sequence):
            // A handler that is awake has it already, unless it is at work on something else.
            if sequence == kept { return [] }
            guard !isAtWork, situations[handler] == .awake || situations[handler] == .attached else {
                return held.removeValue(forKey: sequence) == nil
                    ? [] : [.concluded(handler, sequence, .withdrawn, awake: .zero, cpu: .zero)]
            }
        case .release(let handler, let sequence):
            guard held.removeValue(forKey: sequence) != nil else { return [] }
            let hasIt = situations[handler] == .awake || situations[handler] == .attached
            return [.concluded(handler, sequence, hasIt ? .ended : .withdrawn, awake: .zero, cpu: .zero)]
        case .store(let row): rows[row.key] = row.value
        case .erase(let key): rows[key] = nil
        case .gate(let handler, let isOpen): gates[handler] = isOpen
        case .open(let condition):
            #expect(open[condition] == nil, "opened twice: \(condition.word)")
            open[condition] = moment.monotonic
            return [.condition(condition, isTrue: truth[condition]?.isTrue ?? false)]
        case .close(let condition):
            #expect(open.removeValue(forKey: condition) != nil, "closed twice: \(condition.word)")
        case .press, .answer, .readZone, .leaveZone, .wakeMachine, .notify, .lose, .act, .restart, .decision: break
        }
        return []
    }

    /// Time passes, with a tick at each deadline of the agenda.
    mutating func pass(_ span: TimeSpan) {
        let end = moment.boottime + span
        var steps = 0
        while let next = nextDeadline, next <= end {
            go(to: next)
            send(.tick)
            steps += 1
            guard steps < 10_000 else {
                Issue.record("the agenda asks to be looked at without end: \(pending)")
                break
            }
        }
        go(to: end)
        send(.tick)
    }

    /// The next deadline as an instant of CLOCK_BOOTTIME; at least a moment from now, so that time goes on.
    private var nextDeadline: Instant? {
        let monotonic = agenda.nextMonotonicDeadline.map { moment.boottime + ($0 - moment.monotonic) }
        let next = Instant.earlier(monotonic, agenda.nextBoottimeDeadline)
        return next.map { max($0, moment.boottime + .milliseconds(1)) }
    }

    private mutating func go(to instant: Instant) {
        let span = instant - moment.boottime
        moment = moment + span
        wall = wall + span
    }

    mutating func sleep(_ span: TimeSpan) {
        moment.boottime = moment.boottime + span
        wall = wall + span
        cameUps.append(moment.boottime)
        send(.clockChanged)
    }

    mutating func set(_ condition: Condition, _ isTrue: Bool) {
        if truth[condition]?.isTrue != isTrue { truth[condition] = (isTrue, moment.monotonic) }
        if open[condition] != nil { send(.condition(condition, isTrue: isTrue)) }
    }

    mutating func conclude(
        _ sequence: Sequence, _ conclusion: Conclusion, awake: TimeSpan = .zero, cpu: TimeSpan = .zero
    ) {
        guard let item = held[sequence] else { return }
        if conclusion.isFinal { held[sequence] = nil }
        switch conclusion {
        case .withdrawn, .handedBack: returned.insert(item.key)
        case .acknowledged, .ended, .overrun, .crashed, .givenBack, .deadLettered, .dropped: break
        }
        send(.concluded(item.key.handler, sequence, conclusion, awake: awake, cpu: cpu))
    }

    mutating func keep(_ sequence: Sequence?) { kept = sequence }

    /// Its manifest is not read after the next restart.
    @discardableResult
    mutating func forget(_ handler: HandlerID) -> AgendaPlan? {
        situations[handler] = nil
        return plans.removeValue(forKey: handler)
    }

    /// The daemon dies and begins anew, with nothing but its rows.
    mutating func restart() {
        agenda = Agenda(seed: 7)
        (open, gates) = ([:], [:])
        send(.restored(storedRows, bootID: bootID))
        for (handler, situation) in situations.sorted(by: { $0.key < $1.key }) { send(.situated(handler, situation)) }
        for (condition, isTrue) in played.sorted(by: { $0.key.word < $1.key.word }) {
            send(.overridden(condition, isTrue: isTrue))
        }
        for (handler, plan) in plans.sorted(by: { $0.key < $1.key }) { send(.configured(handler, plan)) }
    }

    /// The machine is off for this long.
    mutating func reboot(off: TimeSpan, synchronized: Bool = true) {
        boot += 1
        wall = wall + off + .seconds(20)
        moment = Moment(monotonic: .seconds(20), boottime: .seconds(20))
        (cameUps, isSynchronized) = ([.seconds(20)], synchronized)
        for condition in truth.keys { truth[condition]?.since = .zero }
        for handler in situations.keys where situations[handler] != .stopped { situations[handler] = .asleep }
        restart()
    }

    var storedRows: [AgendaRow] {
        rows.sorted { $0.key < $1.key }.map { AgendaRow(key: $0.key, value: $0.value) }
    }
}

// What can be asked of it.
extension AgendaWorld {
    static let handler = HandlerID(rawValue: 1)

    var pending: [PendingEntry] { agenda.pending(of: nil, at: stamp) }

    func entry(_ id: String, _ source: AgendaSource = .job) -> PendingEntry? {
        pending.first { $0.key.id == id && $0.key.source == source }
    }

    func waits(_ id: String, _ source: AgendaSource = .job) -> [String] {
        entry(id, source)?.waitsFor.map(\.word) ?? ["nothing pending"]
    }

    /// Of what was raised as this one; empty where less was raised.
    func payload(_ index: Int) -> String {
        raised.dropFirst(index).first.map { String(decoding: $0.occasion.payload, as: UTF8.self) } ?? ""
    }

    var heldSequences: [Sequence] { held.keys.sorted() }

    @discardableResult
    mutating func order(
        _ text: String, of handler: HandlerID = handler, epoch: UInt32 = 1
    ) throws -> AgendaAnswer {
        let line = try JSONValue(parsing: Array(text.utf8))
        guard case .object(let members) = line, let member = members.first,
            let verb = HandlerOrder.Verb(rawValue: member.name)
        else { throw Unwritten(text: text) }
        let effects = send(.ordered(handler, Epoch(rawValue: epoch), HandlerOrder(verb, member.value), ref: nil))
        for case .answer(_, _, let answer, _) in effects { return answer }
        throw Unwritten(text: text)
    }

    mutating func configure(_ text: String, of handler: HandlerID = handler) throws {
        send(.configured(handler, try AgendaPlan.parsed(text)))
    }
}

struct Unwritten: Error { var text: String }

extension AgendaPlan {
    /// As a manifest has it: the keys of the kinds of events, and `after`.
    static func parsed(_ text: String) throws -> AgendaPlan {
        let value = try JSONValue(json5: Array(text.utf8))
        var plan = AgendaPlan()
        for kind in TriggerKind.all {
            if let rules = value[kind.manifestKey] { try plan.read(rules, of: kind) }
        }
        if let after = value["after"] { plan.gates = try Condition.list(after, for: "\"after\"") }
        return plan
    }
}

extension AgendaAnswer {
    var word: String? {
        switch self {
        case .done(_, let word, _), .transfer(_, let word, _, _): word
        case .pending, .fault: nil
        }
    }
    var fault: ProtocolFault? { if case .fault(let fault) = self { fault } else { nil } }
    var entries: [PendingEntry] {
        switch self {
        case .done(_, _, let entries), .transfer(_, _, _, let entries), .pending(let entries): entries
        case .fault: []
        }
    }
}

// Long jobs, of which two run at a time.
extension AgendaWorld {
    static let threeHandlers = (1...3).map { HandlerID(rawValue: UInt32($0)) }

    /// Of three handlers that are awake, with a long job each, two run it, and the third waits for a slot.
    static func withFullSlots() throws -> AgendaWorld {
        var world = AgendaWorld()
        for handler in threeHandlers {
            try world.configure("{jobs: [{id: 'backup', kind: 'processing'}]}", of: handler)
            world.send(.situated(handler, .awake))
            try world.order(#"{"submit":{"job":"backup"}}"#, of: handler)
            world.pass(.seconds(1))
        }
        try #require(world.heldSequences == [Sequence(1), Sequence(2)])
        return world
    }
}
