// The inbox of a handler: the messages that wait, those that are on their way, and the bucket of its wakes.
import WakeModel

/// A message that was accepted and is not over.
struct KeptMessage: Sendable {
    /// Why it leaves the core's queue, where it is not wanted any more as it is.
    enum Leaving: Hashable, Sendable {
        /// A later one of its topic came.
        case collapsed(by: Int64)
        /// Too many wait.
        case overflow
        case expired
    }

    /// The time that a message on its way still has to arrive when its time ends.
    static let arrival = TimeSpan.seconds(10)

    let key: AgendaKey
    let number: Int64
    var message: InboxMessage
    var received: WallTime
    var expires: Instant
    /// When it may cause a wake; nil where it never does.
    var wakesAt: Instant?
    /// The number of earlier messages of its topic that it replaces.
    var collapsed: Int64 = 0
    var delivery = DeliveryState()
    var leaving: Leaving?
    /// The instant of its recall.
    var recalledAt: Instant?
    var raisedAt: Instant?
    /// A wake was taken out of the bucket for it, and for all messages that were raised with it.
    var isPaidFor = false
    /// The conditions with which it was handed back, and until when it rests.
    var until: [Condition] = []
    var handBacks: Int64 = 0
    var restsUntil: Instant?
    /// As ``BootShift/zero``: its instants wait for a synchronized clock.
    var assumedZero: WallTime?

    init(key: AgendaKey, _ message: InboxMessage, received: WallTime, expires: Instant, wakesAt: Instant?) {
        (self.key, self.message, self.received) = (key, message, received)
        (number, self.expires, self.wakesAt) = (Int64(key.id) ?? 0, expires, wakesAt)
    }

    var id: String { key.id }
    var isWaiting: Bool { delivery.isWaiting }
    /// It is in the core's queue, as far as can be known.
    var isQueued: Bool { delivery.sequence != nil && !delivery.isRunning }
    /// It counts against the limit: the handler does not have it, and it is not leaving.
    var isKept: Bool { (isWaiting || isQueued) && leaving == nil }
    /// When it is over, whether it waits or is on its way.
    var end: Instant { raisedAt.map { max(expires, $0 + Self.arrival) } ?? expires }

    mutating func shift(by span: TimeSpan) {
        expires = expires + span
        wakesAt = wakesAt.map { $0 + span }
        raisedAt = raisedAt.map { $0 + span }
        restsUntil = restsUntil.map { $0 + span }
        recalledAt = nil
    }

    /// It waits again.
    mutating func comeBack(until conditions: [Condition], _ step: AgendaStep) {
        (delivery, raisedAt, isPaidFor, until) = (DeliveryState(), nil, false, conditions)
        handBacks += 1
        restsUntil = step.boottime + handBackRest(handBacks)
    }

    func occasion() -> Occasion {
        let payload = JSONWriter.whole { writer in
            writer.field("id", id)
            message.writeWords(into: &writer)
            message.writePayload(into: &writer)
            writer.field("received", received)
            if collapsed > 0 { writer.field("collapsed", collapsed) }
        }
        return Occasion(name: "message.received", budgetClass: .content, payload: payload)
    }
}

struct InboxEntry: Sendable {
    /// Messages lost since the last gap.
    struct Loss: Hashable, Sendable {
        var count: Int64
        var from: WallTime
        var to: WallTime
    }

    let key: AgendaKey
    /// Nil from the start of the bridge until its manifest was read.
    var rule: InboxRule?
    var bucket: MessageBucket
    var nextNumber: Int64 = 1
    var lost: Loss?
    /// In the order in which they came.
    private(set) var messages: [KeptMessage] = []
    var waitingSince: WallTime
    /// As ``BootShift/zero``, of the bucket.
    var assumedZero: WallTime?
    var history = ChangeHistory()

    init(key: AgendaKey, fullAt: Instant, since: WallTime) {
        (self.key, bucket, waitingSince) = (key, MessageBucket(fullAt: fullAt), since)
    }

    // MARK: Messages

    subscript(number: Int64) -> KeptMessage? { place(of: number).map { messages[$0] } }

    private func place(of number: Int64) -> Int? {
        let place = messages.partitioningIndex { $0.number >= number }
        return place < messages.count && messages[place].number == number ? place : nil
    }

    mutating func insert(_ message: KeptMessage) {
        let place = messages.partitioningIndex { $0.number >= message.number }
        messages.insert(message, at: place)
        nextNumber = max(nextNumber, message.number + 1)
    }

    mutating func remove(_ number: Int64) -> KeptMessage? { place(of: number).map { messages.remove(at: $0) } }

    /// Does nothing if there is none of that number.
    mutating func change(_ number: Int64, _ body: (inout KeptMessage) -> Void) {
        if let place = place(of: number) { body(&messages[place]) }
    }

    mutating func changeAll(_ body: (inout KeptMessage) -> Void) {
        for place in messages.indices { body(&messages[place]) }
    }

    mutating func lose(_ message: KeptMessage) {
        guard let loss = lost else {
            lost = Loss(count: 1, from: message.received, to: message.received)
            return
        }
        lost = Loss(
            count: loss.count + 1, from: min(loss.from, message.received), to: max(loss.to, message.received))
    }

    // MARK: Messages that may be raised

    /// An awake handler is processing its messages, except refused ones.
    mutating func meet(_ step: AgendaStep) {
        let (isAwake, isHeld) = (step.isAwake(key.handler), step.holdEnd(of: key.handler) != nil)
        changeAll { message in
            guard let sequence = message.delivery.sequence, step.restEnd(of: sequence) == nil else { return }
            if isAwake { message.delivery.isRunning = true }
            if isHeld { message.delivery.isRunning = false }
        }
    }

    /// Only a wake is missing.
    func isReady(_ message: KeptMessage, _ step: AgendaStep) -> Bool {
        message.isWaiting && message.expires >= step.boottime && !isResting(message, step)
            && message.until.allSatisfy(step.conditions.isTrue) && blockedUntil(message, step) == nil
    }

    func isResting(_ message: KeptMessage, _ step: AgendaStep) -> Bool {
        message.restsUntil.map { step.boottime < $0 } ?? false
    }

    /// Whether one that it takes the place of is still in the queue shows within a moment.
    func blockedUntil(_ message: KeptMessage, _ step: AgendaStep) -> Instant? {
        guard message.message.topic != nil else { return nil }
        let recalls = messages.filter { $0.leaving == .collapsed(by: message.number) }.compactMap(\.recalledAt)
        return recalls.map { $0 + .milliseconds(1) }.max().flatMap { step.boottime < $0 ? $0 : nil }
    }

    /// The time from which it may wake by itself.
    func wakeTime(of message: KeptMessage, _ step: AgendaStep) -> Instant? {
        guard let rule, let wakesAt = message.wakesAt else { return nil }
        if passesBucket(message) { return max(wakesAt, step.boottime) }
        return max(wakesAt, bucket.nextWake(rule, at: step.boottime))
    }

    /// A message that was handed back, or is urgent. One that replaces a message on its way has that one's wake.
    func passesBucket(_ message: KeptMessage) -> Bool {
        if message.handBacks > 0 || message.message.urgency == .high { return true }
        return message.message.topic != nil && messages.contains { $0.leaving == .collapsed(by: message.number) }
    }

    /// A message on its way is gone before it arrived: another one on its way gets its wake, or the bucket.
    mutating func returnWake(of message: KeptMessage) {
        guard message.isPaidFor, let rule else { return }
        if let other = messages.first(where: { $0.isQueued && $0.leaving == nil }) {
            change(other.number) { $0.isPaidFor = true }
        } else {
            bucket.returnWake(rule)
        }
    }

    /// A message is on its way, so that the handler wakes anyway.
    var isWaking: Bool { messages.contains { $0.isQueued && $0.leaving == nil } }
}

extension Array {
    /// The first place where it is true; it stays true from there on.
    fileprivate func partitioningIndex(_ belongsAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
