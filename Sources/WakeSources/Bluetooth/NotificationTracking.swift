// A peripheral's notifications, raised in order between `connected` and `disconnected`. The time in which they may have
// been missed is raised as a gap. No received one is lost, whatever happens to the link.
import WakeModel

/// The notifications on the link that is up, and until when it was surely followed.
struct NotificationTracker: Sendable {
    /// A value and its arrival, which its event bears, however much later that is raised.
    struct Word: Hashable, Sendable {
        var channel: CharacteristicName
        var bytes: [UInt8]
        var at: Stamp
    }

    struct Read: Hashable, Sendable {
        /// A value that the read may have caused: bluetoothd reports a read's value as if it had been notified, just
        /// before it answers.
        var held: Word?
        /// Every handler gets the value of the bridge's own read.
        var isOwn = false
        /// How many run for handlers, which alone get their values.
        var forHandlers = 0

        var isOver: Bool { !isOwn && forHandlers == 0 }
    }

    /// Notifications before `connected` could be raised, and until when.
    private(set) var early: [Word] = []
    private(set) var earlyUntil: WallTime?
    /// Since when each characteristic is surely received on this link: its first notification, or the proof.
    private(set) var heardSince: [CharacteristicName: WallTime] = [:]
    /// When its link fell, by the kernel: a later notification was sent before, and has come late.
    var fellAt: WallTime?
    /// Until when the bridge surely listened: later notifications may be lost.
    var heardUntil: WallTime?
    /// The machine slept after this, and no notification came on the link since.
    var sleptSince: WallTime?
    var reads: [CharacteristicName: Read] = [:]
    /// Until when a gap covered all possible loss on this link.
    var toldUntil: WallTime?
    /// Characteristics whose messages come in pieces.
    var assemblies: [CharacteristicName: ChannelAssembly] = [:]
    var spoilt = SpoiltPieces()
    /// Characteristics that ever notified: silence from them is a gap.
    private(set) var everHeard: Set<CharacteristicName> = []

    /// Handlers know it as connected.
    var isTold = false

    var hasEarly: Bool { !early.isEmpty }
    var hasProof: Bool { !heardSince.isEmpty }

    mutating func prove(_ uuid: CharacteristicName, _ now: WallTime) {
        heardSince[uuid] = heardSince[uuid] ?? now
        everHeard.insert(uuid)
    }

    mutating func doubt(_ uuid: CharacteristicName) { heardSince[uuid] = nil }

    mutating func keep(_ word: Word) {
        early.append(word)
        earlyUntil = word.at.wall
    }

    mutating func removeEarly() -> [Word] {
        defer { early = [] }
        return early
    }

    /// The link is gone. The time until which it was followed stays.
    mutating func leaveLink() {
        let (everHeard, assemblies, spoilt, isTold) = (everHeard, assemblies, spoilt, isTold)
        self = NotificationTracker(heardUntil: surelyHeard)
        (self.everHeard, self.assemblies, self.spoilt, self.isTold) = (everHeard, assemblies, spoilt, isTold)
    }

    /// Not after the fall; but no gap reaches back over an earlier one.
    private var surelyHeard: WallTime? {
        guard let heardUntil, let fellAt else { return heardUntil }
        return min(heardUntil, max(fellAt, toldUntil ?? fellAt))
    }

    /// Since when pieces have come of a message that is not whole yet.
    var untoldSince: WallTime? { assemblies.isEmpty ? nil : assemblies.values.compactMap(\.untoldSince).min() }

    init(heardUntil: WallTime? = nil) { self.heardUntil = heardUntil }
}

extension LinkMachine {
    /// The link is of no use any more. Its notifications are raised before that, and for that it was there.
    mutating func endLink(_ reason: String, wasSound: Bool = true, _ step: inout LinkStep) {
        leaveServices(wasSound: wasSound, &step)
        if voice.isTold { step.raise(.disconnected(reason: reason, folded: 0)) }
        voice.isTold = false
    }

    /// No channel is armed any more. A device that was reported as connected stays so until the link ends.
    mutating func leaveServices(wasSound: Bool = true, _ step: inout LinkStep) {
        if phase == .ready {
            for uuid in voice.reads.keys.sorted(by: { $0.description < $1.description }) {
                if let held = voice.reads[uuid]?.held { raise(held, &step) }
            }
            cutAllShort(&step)
            if isMissing { voice.heardUntil = voice.toldUntil } else if wasSound { recordListened(&step) }
        } else if voice.hasEarly {
            announce(&step)
            cutAllShort(&step)
        }
        arming = [:]
        proceed(.left, &step)
        voice.leaveLink()
        requests.leaveLink()
    }

    /// A link that was silent was followed all the same. A notification older than a link lives without an answer
    /// either came or broke the link. If bluetoothd or the radio itself failed, it may have been lost before.
    private mutating func recordListened(_ step: inout LinkStep) {
        switch facts.absence {
        case .bluetoothdGone, .adapterDown: return
        case .removed, nil: break
        }
        voice.heardUntil = surelyHeard(at: step.stamp.wall)
    }

    /// Until when a link without a known fault was followed.
    func surelyHeard(at now: WallTime) -> WallTime {
        let sure = min(now, voice.sleptSince ?? now) - patience.supervision
        let heard = max(voice.heardUntil ?? sure, sure)
        return min(heard, voice.untoldSince ?? heard)
    }

    /// Nil before its first link. A link without all of its characteristics is not followed: its next link's gap begins
    /// where the last ended.
    var listening: Listening? {
        guard phase == .ready else { return voice.heardUntil.map { .until($0) } }
        if isMissing { return voice.toldUntil.map { .until($0) } }
        return voice.heardUntil.map { .since(min($0, voice.untoldSince ?? $0)) }
    }

    /// A characteristic that notified once does not on this link.
    private var isMissing: Bool {
        voice.everHeard.contains { uuid in arming[uuid].map { $0.stage != .proven } ?? false }
    }

    /// Raises the gap, then `connected`, unless handlers know that, then early notifications.
    mutating func announce(_ step: inout LinkStep) {
        if !plan.required.isEmpty || !absent.isSuperset(of: plan.notify) {
            let until = deafUntil(step.stamp.wall)
            let from = min(voice.heardUntil ?? until, until)
            step.raise(.gap(Gap(cause: .link, count: nil, first: nil, last: nil, from: from, to: until)))
            voice.toldUntil = until
            voice.heardUntil = max(until, voice.earlyUntil ?? until)
        }
        if !voice.isTold { step.raise(.connected(folded: 0)) }
        voice.isTold = true
        for word in voice.removeEarly() { raise(word, &step) }
    }

    /// A failed subscription has recovered on a ready link.
    mutating func reportDeafness(_ step: inout LinkStep) {
        let now = step.stamp.wall
        let from = min(voice.toldUntil ?? now, now)
        step.raise(.gap(Gap(cause: .link, count: nil, first: nil, last: nil, from: from, to: now)))
        voice.toldUntil = now
        // This gap also covers anything else that may be lost till now.
        voice.heardUntil = max(voice.heardUntil ?? now, now)
    }

    /// Since when all are received. A refused one may have notified on other links, so it counts till now.
    private func deafUntil(_ now: WallTime) -> WallTime {
        let expected = listened.filter { !absent.contains($0) }
        return expected.map { voice.heardSince[$0] ?? now }.max() ?? now
    }

    mutating func beginReads(_ step: inout LinkStep) {
        for uuid in facts.all(of: plan.read) where facts.channels[uuid] != nil || !plan.required.contains(uuid) {
            voice.reads[uuid] = NotificationTracker.Read(isOwn: true)
            ask(.read(uuid), &step)
        }
    }

    mutating func hear(_ uuid: CharacteristicName, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard facts.isUp, session == .open, plan.listens(to: uuid) else { return }
        if isProof(of: uuid) { prove(uuid, &step) }
        let word = NotificationTracker.Word(channel: uuid, bytes: bytes, at: step.stamp)
        guard phase == .ready else { return voice.keep(word) }
        // Pieces may have been missed.
        if voice.sleptSince != nil { cutAllShort(&step) }
        voice.heardUntil = step.stamp.wall
        voice.sleptSince = nil
        guard let read = voice.reads[uuid] else { return raise(word, &step) }
        if let held = read.held { raise(held, &step) }
        voice.reads[uuid]?.held = word
    }

    /// Whether its notification proves that it is armed. None does while it is being switched off, because it will soon
    /// be silent again. Nor does one that another program's read may have caused, unless no other proof is possible.
    private func isProof(of uuid: CharacteristicName) -> Bool {
        guard !requests.isAsked(.stopNotify(uuid)) else { return false }
        return facts.channels[uuid].map { !$0.canRead || !$0.hasConfiguration } ?? true
    }

    mutating func handleRead(_ uuid: CharacteristicName, _ bytes: [UInt8], _ step: inout LinkStep) {
        guard voice.reads[uuid]?.isOwn == true else { return }
        settleRead(uuid, bytes, &step) { $0.isOwn = false }
        // Whole by itself, also where notifications are pieces; and it answers no question.
        step.raise(.data(.characteristic(uuid), bytes))
    }

    mutating func endRead(_ uuid: CharacteristicName, _ step: inout LinkStep) {
        guard voice.reads[uuid]?.isOwn == true else { return }
        settleRead(uuid, nil, &step) { $0.isOwn = false }
    }

    /// A read's value needs to be distinguished only if the characteristic also notifies.
    mutating func handleHandlerReads(_ uuid: CharacteristicName) {
        guard phase == .ready, plan.listens(to: uuid) else { return }
        voice.reads[uuid, default: NotificationTracker.Read()].forHandlers += 1
    }

    mutating func handleHandlerRead(_ uuid: CharacteristicName, _ bytes: [UInt8]?, _ step: inout LinkStep) {
        guard let read = voice.reads[uuid], read.forHandlers > 0 else { return }
        settleRead(uuid, bytes, &step) { $0.forHandlers -= 1 }
    }

    /// A read has ended. A held value that is equal to the read's came from it; the peripheral notified any other.
    private mutating func settleRead(
        _ uuid: CharacteristicName, _ bytes: [UInt8]?, _ step: inout LinkStep,
        _ end: (inout NotificationTracker.Read) -> Void
    ) {
        guard var read = voice.reads[uuid] else { return }
        end(&read)
        if let held = read.held, held.bytes != bytes { raise(held, &step) }
        read.held = nil
        voice.reads[uuid] = read.isOver ? nil : read
    }
}
