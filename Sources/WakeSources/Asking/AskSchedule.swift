// Schedules the questions of a device's profile: pure. Inputs are its link, its answers and time; outputs are writes.
import WakeModel

/// A question that is to be written. Its number distinguishes it from the same question written again.
public struct AskedQuestion: Hashable, Sendable {
    public var number: Int
    public var question: AskPlan.Question
}

/// Why a profile's questions get no answer.
enum AskTrouble: Hashable, Sendable {
    case silent
    /// With why, of the device or the system.
    case refused(String)

    var sentence: String {
        switch self {
        case .silent: "it does not answer what its profile asks"
        case .refused(let why): "what its profile asks cannot be written: \(why)"
        }
    }
}

/// Keeps one question under way at a time, until the device sends anything, or is silent for ``patience``.
struct AskSchedule: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        /// The device is followed from now on, and was not before.
        case armed
        case left
        /// Whether a handler is awake that receives the device's events.
        case awake(Bool)
        /// The outcome of the write of the question with this number.
        case written(Int, Fate)
        /// It sent something.
        case answered
        case tick
    }

    enum Fate: Hashable, Sendable {
        case taken
        /// The link is gone; its end will be reported soon.
        case unreachable
        case refused(String)
    }

    enum Effect: Hashable, Sendable {
        case write(AskedQuestion)
        /// Once for each link at most, and until it answers again not for the next ones.
        case tell(AskTrouble)
    }

    private struct UnderWay: Hashable, Sendable {
        var number: Int
        var isOfStart: Bool
        var silentAt: Instant
        var isWritten = false
        var isAnswered = false
        /// It was silent for ``patience``, and its write has not ended.
        var isOverdue = false
    }

    static let patience = TimeSpan.seconds(2)
    /// Attempts to write a refused question of the start: without it the device may send nothing at all.
    private static let attemptLimit = 3

    private let plan: AskPlan
    private(set) var isArmed = false
    private(set) var isAwake: Bool
    private var underWay: UnderWay?
    private var lastNumber = 0
    /// The place of the next question of the start, how often it was refused, and when it may be written.
    private var place = 0
    private var attempts = 0
    private var startDue = Instant.zero
    /// When each of the polls may be written next.
    private var pollDue: [Instant] = []
    private(set) var trouble: AskTrouble?
    private var hasTold = false

    init(_ plan: AskPlan, isAwake: Bool = false) {
        self.plan = plan
        self.isAwake = isAwake
    }

    /// When something follows although nothing else happens.
    var deadline: Instant? {
        guard isArmed else { return nil }
        if let underWay { return underWay.isOverdue ? nil : underWay.silentAt }
        return place < plan.start.count ? startDue : plan.poll.indices.filter(isMeant).map { pollDue[$0] }.min()
    }

    mutating func step(_ input: Input, at now: Instant) -> [Effect] {
        guard !plan.isEmpty else { return [] }
        var effects: [Effect] = []
        switch input {
        case .armed: begin(now)
        case .left: end()
        case .awake(let next): isAwake = next
        case .written(let number, let fate): take(fate, of: number, now, &effects)
        case .answered:
            if trouble == .silent { trouble = nil }
            underWay?.isAnswered = true
        case .tick: break
        }
        while isArmed, advance(now, &effects) {}
        return effects
    }

    private mutating func begin(_ now: Instant) {
        end()
        isArmed = true
        (place, attempts, startDue) = (0, 0, now)
        pollDue = plan.poll.map { _ in now }
    }

    private mutating func end() {
        isArmed = false
        underWay = nil
        if trouble == nil { hasTold = false }
    }

    private mutating func take(_ fate: Fate, of number: Int, _ now: Instant, _ effects: inout [Effect]) {
        guard let open = underWay, open.number == number else { return }
        switch fate {
        case .taken:
            if trouble != .silent { trouble = nil }
            underWay?.isWritten = true
            underWay?.isOverdue = false
            underWay?.silentAt = now + Self.patience
        case .refused(let why):
            complain(.refused(why), &effects)
            giveUp(open, now)
        case .unreachable: giveUp(open, now)
        }
    }

    /// It was not written.
    private mutating func giveUp(_ open: UnderWay, _ now: Instant) {
        underWay = nil
        guard open.isOfStart else { return }
        attempts += 1
        if attempts < Self.attemptLimit { startDue = now + Self.patience } else { passStart(now) }
    }

    private mutating func passStart(_ now: Instant) {
        (place, attempts, startDue) = (place + 1, 0, now)
    }

    private mutating func complain(_ next: AskTrouble, _ effects: inout [Effect]) {
        trouble = next
        guard !hasTold else { return }
        hasTold = true
        effects.append(.tell(next))
    }

    /// Makes the one move that is due; false where none is.
    private mutating func advance(_ now: Instant, _ effects: inout [Effect]) -> Bool {
        guard let open = underWay else { return ask(now, &effects) }
        let isSilent = !open.isAnswered && now >= open.silentAt
        if isSilent, !open.isOverdue { complain(.silent, &effects) }
        guard open.isWritten, open.isAnswered || isSilent else {
            if now >= open.silentAt { underWay?.isOverdue = true }
            return false
        }
        underWay = nil
        if open.isOfStart { passStart(now) }
        return true
    }

    private mutating func ask(_ now: Instant, _ effects: inout [Effect]) -> Bool {
        if place < plan.start.count {
            guard now >= startDue else { return false }
            write(plan.start[place], isOfStart: true, now, &effects)
            return true
        }
        let due = plan.poll.indices.filter { isMeant($0) && now >= pollDue[$0] }
        guard let next = due.min(by: { (pollDue[$0], $0) < (pollDue[$1], $1) }) else { return false }
        pollDue[next] = now + plan.poll[next].every
        write(plan.poll[next].question, isOfStart: false, now, &effects)
        return true
    }

    private func isMeant(_ poll: Int) -> Bool {
        switch plan.poll[poll].when {
        case .awake: isAwake
        case .always: true
        }
    }

    private mutating func write(
        _ question: AskPlan.Question, isOfStart: Bool, _ now: Instant, _ effects: inout [Effect]
    ) {
        lastNumber += 1
        underWay = UnderWay(number: lastNumber, isOfStart: isOfStart, silentAt: now + Self.patience)
        effects.append(.write(AskedQuestion(number: lastNumber, question: question)))
    }
}

extension AskSchedule.Fate {
    init(_ failure: TalkFailure?) {
        switch failure {
        case nil: self = .taken
        case .notConnected: self = .unreachable
        case .notOffered(let why), .refused(let why): self = .refused(why)
        }
    }
}
