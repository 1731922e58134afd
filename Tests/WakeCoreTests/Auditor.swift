// Keeps the books beside the core: it enters every effect, and reports at once what can never be right.
import WakeModel

@testable import WakeCore

/// Checks what must hold after every step, whatever the story: accounting, order, epochs and deadlines.
final class Auditor {
    enum Place: Equatable { case queued, leased, acknowledged, deadLettered, lost }

    struct Books {
        private(set) var places: [Sequence: Place] = [:]
        private(set) var queued: Set<Sequence> = []
        private(set) var leasedCount = 0
        var devices: [Sequence: EventOrigin] = [:]
        var attempts: [Sequence: UInt32] = [:]
        var overtaking: Set<Sequence> = []
        /// Long jobs, whose time is none of the batch's.
        var jobs: Set<Sequence> = []
        /// Occasions that are not over.
        var occasions: [Sequence] = []
        private(set) var gaps: [Sequence: (device: EventOrigin, gap: Gap)] = [:]
        /// Events that came for it, of the kinds that are counted: all but gaps told by the host.
        var arrived = 0
        var appended = 0
        var discarded = 0
        /// How many events all gaps together report.
        private(set) var told = 0
        var live: Epoch?
        var lastEpoch = Epoch(rawValue: 0)
        var isInputClosed = false
        var budgetFrom = Instant.zero
        /// Before the last acknowledgement.
        var formerBudgetFrom = Instant.zero
        var hadEarlyDeadline = false
        /// Ended for want of memory, or for heat, which it is not to blame for.
        var madeWay = false

        mutating func put(_ sequence: Sequence, _ place: Place) {
            if places[sequence] == .queued { queued.remove(sequence) }
            if places[sequence] == .leased { leasedCount -= 1 }
            places[sequence] = place
            if place == .queued { queued.insert(sequence) }
            if place == .leased { leasedCount += 1 }
        }

        mutating func write(_ gap: Gap, of device: EventOrigin, as sequence: Sequence) {
            told += Int(gap.count ?? 0) - Int(gaps[sequence]?.gap.count ?? 0)
            gaps[sequence] = (device, gap)
        }
    }

    private(set) var books: [HandlerID: Books] = [:]
    private(set) var complaints: [String] = []
    private var lastAppended = Sequence(0)
    /// Seqs the core asked to be leased in this step, and not delivered yet.
    private var leasedNow: [HandlerID: [Sequence]] = [:]

    func complain(_ text: String) { if complaints.count < 20 { complaints.append(text) } }

    func expectArrival(_ handler: HandlerID, _ count: Int = 1) { books[handler, default: Books()].arrived += count }
    func recordEarlyDeadline(_ handler: HandlerID) { books[handler, default: Books()].hadEarlyDeadline = true }
    func recordRecovered(_ handler: HandlerID, _ event: RecoveredEvent) {
        books[handler, default: Books()].put(event.sequence, .queued)
        books[handler, default: Books()].devices[event.sequence] = event.origin
        books[handler, default: Books()].attempts[event.sequence] = UInt32(event.attempts)
        if case .occasion = event.content { books[handler, default: Books()].occasions.append(event.sequence) }
    }

    func enter(_ effects: [Effect], _ core: Dispatcher, at now: Moment) {
        leasedNow = [:]
        for effect in effects { enter(effect, core, at: now) }
        for (handler, sequences) in leasedNow where !sequences.isEmpty {
            complain("\(handler.rawValue): leased and not delivered: \(sequences.map(\.rawValue))")
        }
        checkDeadlines(core, at: now)
        for handler in core.handlers { check(handler, core.machine, at: now) }
    }

    private func enter(_ effect: Effect, _ core: Dispatcher, at now: Moment) {
        switch effect {
        case .append(let sequence, let event, let owners, _): append(sequence, event, owners)
        case .update(let sequence, let event): update(sequence, event)
        case .lease(let id, let sequences): lease(id, sequences, core)
        case .keepInFlight(let id, let sequences):
            for sequence in sequences { expectPlace(id, sequence, [.queued], "kept in flight") }
        case .acknowledge(let id, let sequences): acknowledge(id, sequences, at: now)
        case .giveBack(let id, let sequence, let attempts, _, _): giveBack(id, sequence, attempts)
        case .deadLetter(let id, let sequence, _):
            expectPlace(id, sequence, [.leased], "dead-lettered")
            books[id, default: Books()].put(sequence, .deadLettered)
            books[id, default: Books()].discarded += 1
        case .concluded(let id, let sequence, let conclusion, _): conclude(id, sequence, conclusion)
        case .checkpoint, .setStopped, .order, .progressed: break
        case .launch(let id, let epoch, _):
            if books[id]?.live != nil { complain("\(id.rawValue): launched while a process lives") }
            if let last = books[id]?.lastEpoch, epoch <= last { complain("\(id.rawValue): epoch did not grow") }
            if core.handler(id)?.isBarred ?? true { complain("\(id.rawValue): launched while stopped") }
            if core.machine.sleepsAt != nil { complain("\(id.rawValue): launched although the machine goes to sleep") }
            books[id]?.madeWay = false
            books[id, default: Books()].live = epoch
            books[id, default: Books()].lastEpoch = epoch
            books[id]?.isInputClosed = false
        case .deliver(let id, let epoch, let delivery):
            expectLive(id, epoch, "deliver")
            deliver(id, delivery, core, at: now)
        case .notify(let id, let epoch, _), .closeInput(let id, let epoch), .thaw(let id, let epoch),
            .freeze(let id, let epoch), .inspectLocks(let id, let epoch), .requestTermination(let id, let epoch),
            .kill(let id, let epoch), .perform(let id, let epoch, _, _):
            expectLive(id, epoch, "\(effect)")
            checkInput(id, effect)
        case .discard(let id, let epoch, _):
            expectLive(id, epoch, "discard")
            books[id]?.live = nil
        case .decision(let id, let decision): judge(id, decision, core, at: now)
        }
    }

    // MARK: The journal's part

    private func append(_ sequence: Sequence, _ event: DeviceEvent, _ owners: [HandlerID]) {
        if sequence <= lastAppended { complain("seq \(sequence.rawValue) appended after \(lastAppended.rawValue)") }
        lastAppended = sequence
        for id in owners {
            books[id, default: Books()].put(sequence, .queued)
            books[id]?.devices[sequence] = event.origin
            books[id]?.attempts[sequence] = 0
            switch event.kind {
            case .gap(let gap): books[id]?.write(gap, of: event.origin, as: sequence)
            case .attention(.linkDown, _): books[id]?.overtaking.insert(sequence)
            case .attention(.storm, _), .attention(.flapping, _): break
            case .occasion:
                books[id]?.appended += 1
                books[id]?.occasions.append(sequence)
            case .data, .connected, .disconnected, .attention: books[id]?.appended += 1
            }
        }
    }

    private func update(_ sequence: Sequence, _ event: DeviceEvent) {
        guard case .gap(let gap) = event.kind else { return complain("only gaps change") }
        for id in books.keys where books[id]?.gaps[sequence] != nil {
            if books[id]?.places[sequence] != .queued {
                complain("gap \(sequence.rawValue) changed after its delivery")
            }
            books[id]?.write(gap, of: event.origin, as: sequence)
        }
    }

    /// What is in flight by now, of which long jobs were leased before.
    private func lease(_ id: HandlerID, _ all: [Sequence], _ core: Dispatcher) {
        let sequences = all.filter {
            books[id]?.places[$0] != .leased || core.handler(id)?.standing.contains($0) != true
        }
        for sequence in sequences {
            expectPlace(id, sequence, [.queued], "leased")
            books[id]?.put(sequence, .leased)
        }
        leasedNow[id, default: []] += sequences
    }

    private func acknowledge(_ id: HandlerID, _ sequences: [Sequence], at now: Moment) {
        for sequence in sequences {
            expectPlace(id, sequence, [.leased, .queued], "acknowledged")
            let wasQueued = books[id]?.places[sequence] == .queued
            books[id]?.put(sequence, wasQueued ? .lost : .acknowledged)
            if wasQueued { books[id]?.discarded += 1 }
            let before = books[id]?.budgetFrom ?? .zero
            books[id]?.formerBudgetFrom = before
            if !wasQueued, books[id]?.jobs.contains(sequence) == false { books[id]?.budgetFrom = now.monotonic }
        }
    }

    /// An occasion ends once, and what its condition took out of the queue is no loss.
    private func conclude(_ id: HandlerID, _ sequence: Sequence, _ conclusion: Conclusion) {
        guard let index = books[id]?.occasions.firstIndex(of: sequence) else {
            if conclusion != .dropped { complain("\(id.rawValue): occasion \(sequence.rawValue) ended twice") }
            return
        }
        if conclusion.isFinal { books[id]?.occasions.remove(at: index) }
        switch conclusion {
        // To give it up is no progress.
        case .handedBack, .withdrawn, .ended:
            if let former = books[id]?.formerBudgetFrom { books[id]?.budgetFrom = former }
        case .acknowledged, .overrun, .crashed, .givenBack, .deadLettered, .dropped: break
        }
        let isNoLoss = conclusion == .withdrawn || conclusion == .ended
        if isNoLoss, books[id]?.places[sequence] == .lost { books[id]?.discarded -= 1 }
    }

    private func giveBack(_ id: HandlerID, _ sequence: Sequence, _ attempts: UInt32) {
        // The count of an event that an earlier daemon delivered is written before the event is leased again.
        expectPlace(id, sequence, [.leased, .queued], "given back")
        books[id]?.put(sequence, .queued)
        books[id]?.attempts[sequence] = attempts
    }

    // MARK: The process's part

    private func deliver(_ id: HandlerID, _ delivery: Delivery, _ core: Dispatcher, at now: Moment) {
        let sequences = delivery.events.map(\.sequence)
        if sequences != leasedNow[id] ?? [] { complain("\(id.rawValue): delivered other than was leased") }
        leasedNow[id] = []
        for event in delivery.events {
            if event.attempt != (books[id]?.attempts[event.sequence] ?? 0) + 1 {
                complain("\(id.rawValue): seq \(event.sequence.rawValue) came as attempt \(event.attempt)")
            }
            books[id]?.attempts[event.sequence] = event.attempt
            if event.ownBudget != nil { books[id]?.jobs.insert(event.sequence) }
        }
        if case .resumed(_, let reason, _) = delivery.preface, reason != .lock, core.machine.sleepsAt != nil {
            complain("\(id.rawValue): thawed although the machine goes to sleep")
        }
        if sequences.isEmpty, case .none = delivery.preface { complain("\(id.rawValue): an empty delivery") }
        books[id]?.budgetFrom = now.monotonic
        books[id]?.hadEarlyDeadline = false
        checkOrder(id, sequences)
    }

    /// Within a device nothing with a lower number is left behind in the queue.
    private func checkOrder(_ id: HandlerID, _ sequences: [Sequence]) {
        guard let books = books[id], let last = sequences.last else { return }
        if zip(sequences, sequences.dropFirst()).contains(where: { $0 >= $1 }) { complain("a batch out of order") }
        var highest: [EventOrigin: Sequence] = [:]
        for sequence in sequences where !books.overtaking.contains(sequence) {
            if let device = books.devices[sequence] { highest[device] = sequence }
        }
        for sequence in books.queued where sequence < last {
            guard let device = books.devices[sequence], let highest = highest[device], sequence < highest,
                !books.overtaking.contains(sequence)
            else { continue }
            complain("\(id.rawValue): seq \(highest.rawValue) overtook \(sequence.rawValue) of its device")
        }
    }

    private func judge(_ id: HandlerID, _ decision: Decision, _ core: Dispatcher, at now: Moment) {
        checkBlame(id, decision)
        guard case .struck = decision, let books = books[id], let handler = core.handler(id), !books.hadEarlyDeadline
        else {
            return
        }
        if now.monotonic - books.budgetFrom < handler.timers.budget {
            complain("\(id.rawValue): struck \((now.monotonic - books.budgetFrom).wholeMilliseconds) ms after progress")
        }
    }

    private func checkBlame(_ id: HandlerID, _ decision: Decision) {
        switch decision {
        case .moved(_, to: .terminating, because: "memory"), .moved(_, to: .terminating, because: "thermal"):
            books[id, default: Books()].madeWay = true
        case .struck, .charged, .held:
            if books[id]?.madeWay ?? false { complain("\(id.rawValue): blamed for making way: \(decision.wireName)") }
        default: break
        }
    }

    private func checkInput(_ id: HandlerID, _ effect: Effect) {
        switch effect {
        case .closeInput: books[id]?.isInputClosed = true
        case .notify:
            if books[id]?.isInputClosed ?? false { complain("\(id.rawValue): told after the end of its input") }
        default: break
        }
    }

    private func expectLive(_ id: HandlerID, _ epoch: Epoch, _ what: String) {
        if books[id]?.live != epoch {
            complain("\(id.rawValue): \(what) for epoch \(epoch.rawValue), which is not alive")
        }
    }

    private func expectPlace(_ id: HandlerID, _ sequence: Sequence, _ places: [Place], _ what: String) {
        let place = books[id]?.places[sequence]
        guard let place, places.contains(place) else {
            return complain(
                "\(id.rawValue): seq \(sequence.rawValue) \(what) while \(String(describing: place))"
            )
        }
    }
}

// MARK: - After each step

extension Auditor {
    private func checkDeadlines(_ core: Dispatcher, at now: Moment) {
        if let next = core.nextMonotonicDeadline, next <= now.monotonic { complain("a monotonic deadline is past") }
        if let next = core.nextBoottimeDeadline, next <= now.boottime { complain("a boottime deadline is past") }
    }

    private func check(_ handler: HandlerLifecycle, _ machine: MachineCondition, at now: Moment) {
        let name = handler.id.rawValue
        if handler.phase == .active, !handler.isKeptAwake(at: now.monotonic), handler.sleep.lockGrace == nil {
            let until = handler.sleep.lingerUntil ?? .zero
            if until <= now.monotonic || until - now.monotonic > handler.timers.linger {
                complain("\(name): awake for nothing")
            }
        }
        if handler.phase == .active || handler.phase == .expiring, handler.sleep.lockGrace == nil,
            let deadline = handler.awakeDeadline, now.monotonic >= deadline + handler.timers.grace
        {
            complain("\(name): awake past its deadline")
        }
        if handler.phase == .active || handler.phase == .expiring, handler.sleep.lockGrace == nil,
            let pressure = handler.pressure(machine, at: now.monotonic)
        {
            if handler.phase == .active { complain("\(name): not told of its pressure") }
            if now.monotonic >= pressure.end { complain("\(name): awake past the end of its pressure") }
        }
        if handler.phase == .active || handler.phase == .expiring, handler.sleep.lockGrace == nil,
            handler.hasUnfinished,
            !handler.isAttached, handler.awakeDeadline == nil, handler.standing.deadline == nil,
            // A flow has no time of its own: what data it goes by ends it.
            !handler.standing.leases.contains(where: { $0.time == nil })
        {
            complain("\(name): awake without a deadline")
        }
        if handler.isBarred, handler.isLive { complain("\(name): runs although stopped") }
        guard let books = books[handler.id] else { return }
        checkCounts(handler, books)
    }

    private func checkCounts(_ handler: HandlerLifecycle, _ books: Books) {
        let (name, queued, leased) = (handler.id.rawValue, books.queued.count, books.leasedCount)
        if queued != handler.queue.count { complain("\(name): \(queued) should be queued, \(handler.queue.count) are") }
        let open = handler.batch.openCount + handler.standing.leases.count
        if leased != open { complain("\(name): \(leased) should be open, \(open) are") }
        let lost = books.arrived - books.appended + books.discarded
        // A storm's gap is written now and then only; what is told is exact.
        let told = books.told
        guard told != lost else { return }
        let mayLag = books.gaps.contains { $0.value.gap.cause == .storm && books.queued.contains($0.key) }
        if told > lost || !mayLag { complain("\(name): \(lost) lost, gaps tell of \(told)") }
    }
}
