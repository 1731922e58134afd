// What a peripheral says: told in order between `connected` and `disconnected`, and the time in which it may have spoken
// unheard told as a gap. Nothing that was heard is lost, whatever becomes of the link.
import WakeModel

/// What was heard on the link that is up, and until when it was surely listened to.
struct NotificationTracker: Sendable {
    /// A value and when it was heard, which is when it is told to have come, however much later that is.
    struct Word: Hashable, Sendable {
        var channel: CharacteristicName
        var bytes: [UInt8]
        var at: Stamp
    }

    struct Read: Hashable, Sendable {
        /// A value that the read may have caused: bluetoothd tells a read's value as if it had been notified, and that just
        /// before it answers.
        var held: Word?
        /// Everybody gets what the bridge's own read brings.
        var isOwn = false
        /// How many are at work for handlers, which alone get what those bring.
        var forHandlers = 0

        var isOver: Bool { !isOwn && forHandlers == 0 }
    }

    /// What it said before `connected` could be told, and until when.
    private(set) var early: [Word] = []
    private(set) var earlyUntil: WallTime?
    /// Since when each characteristic is surely heard on this link: its first word, or the proof.
    private(set) var heardSince: [CharacteristicName: WallTime] = [:]
    /// When its link fell, by the kernel: what is taken in later was said before, and has come late.
    var fellAt: WallTime?
    /// Until when the bridge surely listened: what came after may be lost.
    var heardUntil: WallTime?
    /// The machine slept after this, and nothing was heard on the link since.
    var sleptSince: WallTime?
    var reads: [CharacteristicName: Read] = [:]
    /// Until when all that may be lost was told on this link.
    var toldUntil: WallTime?
    /// Of characteristics whose messages come in pieces.
    var assemblies: [CharacteristicName: ChannelAssembly] = [:]
    var spoilt = SpoiltPieces()
    /// What was heard on any link: where it is deaf, something is lost.
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

    /// The link is gone. When it was last listened to stays.
    mutating func leaveLink() {
        let (everHeard, assemblies, spoilt, isTold) = (everHeard, assemblies, spoilt, isTold)
        self = NotificationTracker(heardUntil: surelyHeard)
        (self.everHeard, self.assemblies, self.spoilt, self.isTold) = (everHeard, assemblies, spoilt, isTold)
    }

    /// Not after the fall; but no gap reaches back over one that was told.
    private var surelyHeard: WallTime? {
        guard let heardUntil, let fellAt else { return heardUntil }
        return min(heardUntil, max(fellAt, toldUntil ?? fellAt))
    }

    /// Since when pieces were heard of a message that is not whole yet.
    var untoldSince: WallTime? { assemblies.isEmpty ? nil : assemblies.values.compactMap(\.untoldSince).min() }

    init(heardUntil: WallTime? = nil) { self.heardUntil = heardUntil }
}

extension LinkMachine {
    /// The link is of no use any more. What it said is told before that, and for that it was there.
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

    /// A link that was silent was listened to all the same. What was said longer ago than a link lives without an answer
    /// either came or broke the link; unless bluetoothd or the radio itself failed, which may have been deaf before.
    private mutating func recordListened(_ step: inout LinkStep) {
        switch facts.absence {
        case .bluetoothdGone, .adapterDown: return
        case .removed, nil: break
        }
        voice.heardUntil = surelyHeard(at: step.stamp.wall)
    }

    /// Until when a link was listened to of which nothing is known to be wrong.
    func surelyHeard(at now: WallTime) -> WallTime {
        let sure = min(now, voice.sleptSince ?? now) - patience.supervision
        let heard = max(voice.heardUntil ?? sure, sure)
        return min(heard, voice.untoldSince ?? heard)
    }

    /// Nil before its first link. One that is deaf in part is not listened to: its next link's gap begins where the last ended.
    var listening: Listening? {
        guard phase == .ready else { return voice.heardUntil.map { .until($0) } }
        if isMissing { return voice.toldUntil.map { .until($0) } }
        return voice.heardUntil.map { .since(min($0, voice.untoldSince ?? $0)) }
    }

    /// What was heard once is not heard on this link.
    private var isMissing: Bool {
        voice.everHeard.contains { uuid in arming[uuid].map { $0.stage != .proven } ?? false }
    }

    /// What may have been said unheard, then that it is there, unless that is known, then what it said already.
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

    /// One that was deaf on a link that is used is heard now.
    mutating func reportDeafness(_ step: inout LinkStep) {
        let now = step.stamp.wall
        let from = min(voice.toldUntil ?? now, now)
        step.raise(.gap(Gap(cause: .link, count: nil, first: nil, last: nil, from: from, to: now)))
        voice.toldUntil = now
        // What else may be lost till now lies in this gap too.
        voice.heardUntil = max(voice.heardUntil ?? now, now)
    }

    /// Since when everything is heard; what is refused may have been heard on other links, so it is waited for till now.
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
        // Pieces may have come unheard.
        if voice.sleptSince != nil { cutAllShort(&step) }
        voice.heardUntil = step.stamp.wall
        voice.sleptSince = nil
        guard let read = voice.reads[uuid] else { return raise(word, &step) }
        if let held = read.held { raise(held, &step) }
        voice.reads[uuid]?.held = word
    }

    /// Whether its word shows that it is armed: not while it is being switched off, for then it will soon be deaf again, and
    /// not where it may be another program's read that brought it, unless nothing else could show it.
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

    /// Only of what also speaks by itself need the read's own value be told apart.
    mutating func handleHandlerReads(_ uuid: CharacteristicName) {
        guard phase == .ready, plan.listens(to: uuid) else { return }
        voice.reads[uuid, default: NotificationTracker.Read()].forHandlers += 1
    }

    mutating func handleHandlerRead(_ uuid: CharacteristicName, _ bytes: [UInt8]?, _ step: inout LinkStep) {
        guard let read = voice.reads[uuid], read.forHandlers > 0 else { return }
        settleRead(uuid, bytes, &step) { $0.forHandlers -= 1 }
    }

    /// One of the reads has ended. What is held and equal to what it brought came from it; anything else was said by the
    /// peripheral.
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
