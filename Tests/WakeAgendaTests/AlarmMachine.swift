// A machine with one book of alarms: its clocks are set, it sleeps, the bridge restarts, it reboots; time is virtual.
import TestBench
import WakeModel
import WakeSystem

@testable import WakeAgenda

final class AlarmMachine {
    private(set) var boottime = Instant.zero + .seconds(100)
    private(set) var wall: WallTime
    private(set) var isSynced: Bool
    private(set) var boot = 1
    private var comeUps = ComeUps(at: .zero)
    var cameUpAt: Instant { comeUps.latest }
    private var slept = TimeSpan.zero

    private(set) var book = AlarmBook()
    private var plans: [HandlerID: AgendaPlan] = [:]
    private var facts: [HandlerID: HandlerFacts] = [:]
    private var zones: [String: Zone?] = [:]
    /// Their tables came, and the book was not told yet.
    private var newZones: Set<String> = []
    /// What the database holds.
    private(set) var rows: [AgendaKey: [UInt8]] = [:]

    var keepsLog = true
    /// All that the book asked for, in order.
    private(set) var log: [AgendaEffect] = []
    private(set) var firings: [Firing] = []
    private var sequence: UInt64 = 0
    private var followUps: [() -> Void] = []
    private var isPlaying = false
    private var outstanding: [(handler: HandlerID, sequence: Sequence)] = []
    /// Whether handlers acknowledge at once.
    var acknowledges = true
    /// Asked for in vain, for now.
    var withheldZones: Set<String> = []
    /// Rows that the book could not read.
    private(set) var unreadable: [AgendaKey] = []
    /// How often the book was asked what is due.
    private(set) var looks = 0

    struct Firing {
        var key: AgendaKey
        var sequence: Sequence
        var at: WallTime
        var boottime: Instant
        var due: WallTime
        var late: Int64
        var missed: Int64
        var payload: JSONValue
    }

    init(at start: WallTime, isSynced: Bool = true) { (wall, self.isSynced) = (start, isSynced) }

    convenience init(_ start: String, isSynced: Bool = true) {
        self.init(at: WallTime(rfc3339: start) ?? WallTime(microseconds: 0), isSynced: isSynced)
    }

    static let zoneFolder = "/usr/share/zoneinfo"

    /// Of the machine where the tests run: its own zone is Berlin.
    static func zone(_ name: String) -> Zone? {
        let name = name == AlarmRule.systemZone ? "Europe/Berlin" : name
        return known[name] ?? (try? Zone(tzif: bytes(of: "\(zoneFolder)/\(name)")))
    }

    private static let known = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"].reduce(into: [:]) {
        $0[$1] = try? Zone(tzif: bytes(of: "\(zoneFolder)/\($1)"))
    }
}

// What the book is told.
extension AlarmMachine {
    func declare(_ rules: AlarmRule..., for handler: HandlerID = .first) { configure(rules, for: handler) }

    func configure(_ rules: [AlarmRule]?, for handler: HandlerID = .first) {
        var plan = AgendaPlan()
        plan.alarms = rules
        plans[handler] = plan
        facts[handler, default: HandlerFacts()].plan = plan
        play { $0.configure(handler, plan, &$1) }
        advance()
    }

    @discardableResult
    func order(_ json: String, for handler: HandlerID = .first) throws(ProtocolFault) -> AgendaAnswer? {
        let value = (try? JSONValue(parsing: Array(json.utf8))) ?? .null
        var result: AgendaAnswer?
        var fault: ProtocolFault?
        play { book, step in
            do throws(ProtocolFault) {
                result = try book.order(handler, Epoch(rawValue: 1), value, ref: Reference(1), &step)
            } catch { fault = error }
        }
        if let fault { throw fault }
        advance()
        return result
    }

    @discardableResult
    func cancel(_ json: String, for handler: HandlerID = .first) throws(ProtocolFault) -> AgendaAnswer {
        let value = (try? JSONValue(parsing: Array(json.utf8))) ?? .null
        var result: Result<AgendaAnswer, ProtocolFault>?
        play { book, step in
            do throws(ProtocolFault) {
                result = .success(try book.cancel(handler, value, &step))
            } catch { result = .failure(error) }
        }
        guard let result else { throw .tooFast }
        return try result.get()
    }

    func conclude(_ conclusion: Conclusion = .acknowledged(nil)) {
        let concluded = outstanding
        if conclusion.isFinal { outstanding = [] }
        for (handler, sequence) in concluded { conclude(sequence, of: handler, conclusion) }
    }

    private func conclude(_ sequence: Sequence, of handler: HandlerID, _ conclusion: Conclusion) {
        guard let key = book.key(of: sequence, for: handler) else { return }
        play { $0.conclude(key, conclusion, awake: .zero, cpu: .zero, &$1) }
    }

    func situate(_ situation: HandlerSituation, _ handler: HandlerID = .first) {
        facts[handler, default: HandlerFacts()].situation = situation
        advance()
    }

    func gate(isOpen: Bool, _ handler: HandlerID = .first) {
        facts[handler, default: HandlerFacts()].isGateOpen = isOpen
        advance()
    }

    func provide(_ zone: Zone?, as name: String) {
        zones[name] = .some(zone)
        newZones.insert(name)
        advance()
    }

    /// A row as a broken card gives it back.
    func put(_ row: [UInt8], as key: AgendaKey) { rows[key] = row }

    func raiseNow(_ id: String) -> Bool {
        var isKnown = false
        play { isKnown = $0.raiseNow(AgendaKey(.first, .alarm, id), &$1) }
        return isKnown
    }

    func raiseOwed(_ id: String) { play { $0.raiseOwed(AgendaKey(.first, .alarm, id), &$1) } }

    func remove(_ handler: HandlerID) { play { $0.remove(handler, &$1) } }
}

// Time.
extension AlarmMachine {
    /// Runs on from deadline to deadline.
    func run(_ span: TimeSpan) {
        let end = boottime + span
        advance()
        while let due = deadline, due <= end {
            move(by: max(.zero, due - boottime))
            advance()
        }
        move(by: end - boottime)
        advance()
    }

    func run(seconds: Int64) { run(.seconds(seconds)) }

    /// The earlier of both clocks', on CLOCK_BOOTTIME.
    var deadline: Instant? {
        Instant.earlier(book.nextBoottime, book.nextWall.map { boottime + $0.elapsed(since: wall) })
    }

    func sleep(seconds: Int64) {
        move(by: .seconds(seconds))
        slept = slept + .seconds(seconds)
        comeUps.add(boottime)
        advance()
    }

    func set(by seconds: Int64) {
        wall = wall + .seconds(seconds)
        advance()
    }

    /// The clock becomes true.
    func synchronize(to time: String? = nil) {
        isSynced = true
        wall = time.flatMap { WallTime(rfc3339: $0) } ?? wall
        advance()
    }

    func synchronize(to time: WallTime) {
        (isSynced, wall) = (true, time)
        advance()
    }

    /// The bridge ends, as by SIGKILL, and starts again; the clock may be set meanwhile.
    func restart(after seconds: Int64 = 0, setBy change: Int64 = 0) {
        move(by: .seconds(seconds))
        wall = wall + .seconds(change)
        begin()
    }

    /// - Parameter falseClock: what the clock shows then, where it lost the time.
    func reboot(after seconds: Int64, falseClock: WallTime? = nil) {
        move(by: .seconds(seconds))
        (boottime, slept, comeUps) = (.zero + .seconds(20), .zero, ComeUps(at: .zero))
        boot += 1
        isSynced = falseClock == nil
        wall = falseClock ?? wall
        begin()
    }

    private func begin() {
        book = AlarmBook()
        zones = [:]
        for key in rows.keys.sorted() {
            play { book, step in
                let row = AgendaRow(key: key, value: self.rows[key] ?? [])
                if !book.restore(row, &step) { self.unreadable.append(key) }
            }
        }
        for handler in plans.keys.sorted() {
            guard let plan = plans[handler] else { continue }
            play { $0.configure(handler, plan, &$1) }
        }
        advance()
    }

    private func move(by span: TimeSpan) {
        boottime = boottime + span
        wall = wall + span
    }
}

// The step, and what follows from it.
extension AlarmMachine {
    var step: AgendaStep {
        let moment = Moment(monotonic: boottime - slept, boottime: boottime)
        var changes = AgendaChanges()
        changes.zones = newZones
        return AgendaStep(
            stamp: Stamp(moment: moment, wall: wall, isClockSynchronized: isSynced), bootID: "boot-\(boot)",
            zones: zones, handlers: facts, seed: 7, comeUps: comeUps, changes: changes)
    }

    func advance() {
        looks += 1
        play { $0.advance(&$1) }
        newZones = []
        for name in book.removeUnusedZones() { zones[name] = nil }
    }

    func pending(_ id: String, of handler: HandlerID = .first) -> PendingEntry? {
        book.pending(of: handler, step).first { $0.key.id == id }
    }

    /// Plays one input and all that it causes.
    private func play(_ act: (inout AlarmBook, inout AgendaStep) -> Void) {
        var step = step
        act(&book, &step)
        if keepsLog { log += step.effects }
        // All effects of one step are performed before the next input.
        let isFirst = followUps.isEmpty && !isPlaying
        followUps += step.effects.compactMap(perform)
        guard isFirst else { return }
        isPlaying = true
        while !followUps.isEmpty { followUps.removeFirst()() }
        isPlaying = false
    }

    /// What is to be told to the book about it.
    private func perform(_ effect: AgendaEffect) -> (() -> Void)? {
        switch effect {
        case .raise(let key, let occasion): return { self.receive(key, occasion) }
        case .store(let row): rows[row.key] = row.value
        case .erase(let key): rows[key] = nil
        case .readZone(let name):
            guard !withheldZones.contains(name) else { return nil }
            return { self.provide(Self.zone(name), as: name) }
        case .withdraw, .recall, .release, .press, .answer, .gate, .open, .close, .leaveZone, .wakeMachine,
            .notify, .lose, .act, .report, .restart, .decision:
            break
        }
        return nil
    }

    private func receive(_ key: AgendaKey, _ occasion: Occasion) {
        sequence += 1
        let number = Sequence(sequence)
        guard let payload = try? JSONValue(parsing: occasion.payload),
            let due = payload["due"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { return }
        firings.append(
            Firing(
                key: key, sequence: number, at: wall, boottime: boottime, due: due,
                late: payload["late_s"]?.integer ?? -1, missed: payload["missed"]?.integer ?? -1, payload: payload))
        play { $0.recordRaised(key, as: number, &$1) }
        if acknowledges {
            conclude(number, of: key.handler, .acknowledged(.useful))
        } else {
            outstanding.append((key.handler, number))
        }
    }

    /// What has been raised, with all that it told of and that the book still counts.
    func total(_ id: String, of handler: HandlerID = .first) -> Int64 {
        let key = AgendaKey(handler, .alarm, id)
        let told = firings.filter { $0.key == key }.reduce(0) { $0 + 1 + $1.missed }
        return told + (book.entries[key]?.missed ?? 0)
    }

    /// Of each alarm, one after the other.
    var duesGrow: Bool {
        var last: [AgendaKey: WallTime] = [:]
        return firings.allSatisfy { firing in
            defer { last[firing.key] = firing.due }
            return last[firing.key].map { $0 < firing.due } ?? true
        }
    }

    func dues(_ id: String) -> [String] {
        firings.filter { $0.key.id == id }.map { String($0.due.rfc3339.prefix(16)) }
    }

    var answers: [AgendaAnswer] {
        log.compactMap { if case .answer(_, _, let answer, _) = $0 { answer } else { nil } }
    }
}

extension HandlerID {
    static let first = HandlerID(rawValue: 1)
    static let second = HandlerID(rawValue: 2)
}

extension AlarmRule {
    /// As an order writes it.
    init(_ json: String) throws {
        self = try AlarmRule(try JSONValue(parsing: Array(json.utf8)), from: .order)
    }
}
