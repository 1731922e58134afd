// The daemon's part in a recording: chooses the next line, and records the handler's answers.
import WakeHandler
internal import WakeModel
internal import WakeProfiles

/// Pure: the caller carries the lines between it and the session.
struct PlayedDaemon {
    private static let budget = TimeSpan.seconds(10)
    private static let firstBackOff = TimeSpan.seconds(1)

    /// An event of the recording, from its first delivery to its end.
    private struct Owed {
        let sequence: Sequence
        let item: PlayedScript.Item
        let heard: HeardValue
        var attempts: UInt32 = 0

        var event: RecordedEvent { item.event }
        var isStanding: Bool { event.kind.budgetClass?.isStanding ?? false }
        var isLongJob: Bool { if case .work? = event.kind.budgetClass { true } else { false } }
    }

    /// The end of one occasion's time.
    private enum Ending {
        case due(Sequence, ExpirationReason)
        /// The handler was notified, and gives it up or loses it.
        case told(Sequence)
    }

    /// The events of one device that wait for the end of a retry's time.
    private struct Hold {
        /// Nil where its first event is given up: later ones may not overtake it.
        var until: TimeSpan?
        var events: [Owed]
    }

    private let recording: Recording
    private var script: PlayedScript
    /// By device.
    private var memories: [Int: DeviceMemory] = [:]
    private var schedule: PlayedSchedule
    private let lineStart = EventLineStart(idPrefix: "replay-")
    /// How many items of the script were played, and how many events were numbered.
    private var (played, numbered) = (0, 0)
    private var noticeCount: UInt64 = 0
    private var now = TimeSpan.zero
    /// The wall clock's time at the start, as it is set now.
    private var wallAtStart: WallTime
    private var hasExpired = false
    private var ending: Ending?
    /// Delivered and not settled, in the order of delivery.
    private var owed: [Owed] = []
    /// To be delivered before the recording goes on.
    private var due: [Owed] = []
    private var holds: [Int: Hold] = [:]
    private var replies = LineSplitter()
    private var logLines = LineSplitter(limit: 1 << 20)
    private var answers = HandlerAnswers()

    init(_ recording: Recording) {
        self.recording = recording
        wallAtStart = recording.start
        script = PlayedScript(recording)
        schedule = PlayedSchedule(
            alarms: recording.pendingAlarms, tasks: recording.pendingTasks, refusals: recording.orderRefusals)
    }

    /// True while the next line notifies the handler that the time of an occasion ends.
    var expiresNext: Bool {
        guard case .due(let sequence, _)? = ending else { return false }
        return owed.contains { $0.sequence == sequence }
    }

    /// As the daemon counts for one event of this kind.
    static func budget(of kind: DeviceEvent.Kind) -> TimeSpan {
        switch kind.budgetClass {
        case nil, .data?: budget
        case .content?: .seconds(30)
        case .work?: .seconds(60)
        case .openEnded(let idle)?: idle
        }
    }

    /// The next line for the handler; nil when the recording has ended and nothing is due any more.
    mutating func nextLine() -> [UInt8]? {
        let line = noticeCount == 0 ? notice(.restored(restoration)) : expiration() ?? nextEnding() ?? nextDelivery()
        if let line { answers.deliveredLines.append(String(decoding: line.dropLast(), as: UTF8.self)) }
        return line
    }

    /// Reads what the handler wrote, and returns the lines that answer it.
    mutating func hear(_ lines: (replies: [UInt8], log: [UInt8])) -> [UInt8] {
        logLines.append(lines.log)
        while case .success(let line)? = logLines.next() { answers.log.append(String(decoding: line, as: UTF8.self)) }
        replies.append(lines.replies)
        var written: [UInt8] = []
        while let line = replies.next() { written += hear(line) }
        return written
    }

    /// The handler has ended.
    mutating func finish() -> HandlerAnswers {
        let left = owed + due + holds.values.flatMap(\.events)
        answers.unanswered = left.map(\.sequence.rawValue).sorted()
        return answers
    }
}

// MARK: Deliveries
extension PlayedDaemon {
    private mutating func nextDelivery() -> [UInt8]? {
        while true {
            if !due.isEmpty { return deliver(due.removeFirst()) }
            let item = played < script.items.count ? script.items[played] : nil
            if releaseHold(before: item?.event.elapsed) { continue }
            guard let item else { return nil }
            let upcoming = item.event
            played += 1
            now = max(now, upcoming.elapsed)
            wallAtStart = upcoming.wall - upcoming.elapsed
            let event = number(item)
            if holds[upcoming.device] == nil || upcoming.kind.passesRetries { return deliver(event) }
            holds[upcoming.device]?.events.append(event)
        }
    }

    private mutating func number(_ item: PlayedScript.Item) -> Owed {
        numbered += 1
        let (event, now) = (item.event, Instant.zero + item.event.elapsed)
        let heard = script.devices[event.device].hear(
            event.kind, at: now, after: &memories[event.device, default: .init()])
        return Owed(sequence: Sequence(UInt64(numbered)), item: item, heard: heard)
    }

    /// True where the events of a device are due again, the earliest first.
    private mutating func releaseHold(before elapsed: TimeSpan?) -> Bool {
        let ends = holds.compactMap { device, hold in hold.until.map { (until: $0, device: device) } }
        guard let (until, device) = ends.min(by: { $0 < $1 }), elapsed.map({ until <= $0 }) ?? true else {
            return false
        }
        now = max(now, until)
        due += holds.removeValue(forKey: device)?.events ?? []
        return true
    }

    private mutating func deliver(_ owing: Owed) -> [UInt8] {
        var owing = owing
        owing.attempts += 1
        owed.append(owing)
        if let reason = owing.item.occasion?.expires, owing.attempts == 1 { ending = .due(owing.sequence, reason) }
        let event = owing.event
        // As in a replay, only the wall clock is the recording's.
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: event.wall)
        let origin = EventOrigin(rawValue: UInt32(event.device))
        return script.devices[event.device].line(
            DeviceEvent(
                origin: origin, kind: event.kind, stamp: stamp, isAuthenticated: owing.item.occasion != nil,
                heard: owing.heard),
            owing.sequence, attempt: owing.attempts, start: lineStart)
    }

    /// Notifies the handler that the time of an occasion ends, and takes it back after that if its condition went.
    private mutating func nextEnding() -> [UInt8]? {
        switch ending {
        case nil: return nil
        case .due(let sequence, let reason):
            ending = nil
            guard owed.contains(where: { $0.sequence == sequence }) else { return nil }
            if reason == .condition { ending = .told(sequence) }
            return notice(
                .expiring(
                    reason: reason.word, remaining: .seconds(2), tasks: answers.openTasks, open: [sequence]))
        case .told(let sequence):
            ending = nil
            takeBack(sequence)
            return nil
        }
    }

    /// It is raised again at once, as a new event.
    private mutating func takeBack(_ sequence: Sequence) {
        guard let place = owed.firstIndex(where: { $0.sequence == sequence }) else { return }
        let lost = owed.remove(at: place)
        answers.takenBack.append(sequence.rawValue)
        guard let occasion = lost.item.occasion else { return }
        due.append(number(script.item(occasion.returning, elapsed: now, wallAtStart: wallAtStart)))
    }

    private mutating func expiration() -> [UInt8]? {
        guard !hasExpired, let count = recording.expiresAfter, played >= count else { return nil }
        hasExpired = true
        let reason = answers.openTasks.isEmpty ? "budget" : "extension"
        return notice(
            .expiring(
                reason: reason, remaining: .seconds(2), tasks: answers.openTasks, open: owed.map(\.sequence)))
    }

    private mutating func notice(_ notice: Notice) -> [UInt8] {
        noticeCount += 1
        var writer = JSONWriter()
        notice.write(into: &writer, idPrefix: "replay-n", number: noticeCount, time: wallAtStart + now)
        return writer.bytes
    }

    private var restoration: WakeModel.Restoration {
        var restoration = WakeModel.Restoration(reason: WakeReason.data.word)
        restoration.links = recording.devices.map { .init(device: $0.device, isConnected: false) }
        restoration.checkpoint = recording.checkpoint
        restoration.pending = schedule.pending
        return restoration
    }
}

// MARK: Answers
extension PlayedDaemon {
    private mutating func hear(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) -> [UInt8] {
        do throws(ProtocolFault) {
            let text = try line.get()
            answers.replyLines.append(String(decoding: text, as: UTF8.self))
            let parsed = try ReplyLine.parse(text)
            do throws(ProtocolFault) {
                return try apply(parsed).map { notice($0) } ?? []
            } catch {
                var fault = error
                fault.reference = parsed.reference
                throw fault
            }
        } catch {
            answers.refusals.append(error.description)
            return notice(.error(error))
        }
    }

    private mutating func apply(_ line: ReplyLine) throws(ProtocolFault) -> Notice? {
        switch line.reply {
        case .ack(let sequence, let result): try settle(sequence, result)
        case .nack(let sequence, let after): try giveBack(sequence, after)
        case .handBack(let sequence, let until): try handBack(sequence, until)
        case .progress(let sequence, let done, let total): try advance(sequence, done, total)
        case .order(let order):
            answers.orders.append(.init(order))
            let answer = try schedule.follow(order, at: wallAtStart + now)
            return .scheduled(members: answer, reference: line.reference)
        case .ready: break
        case .checkpoint(let text): answers.checkpoints.append(text)
        case .begin(let name):
            if answers.openTasks.contains(name) { throw .alreadyOpen(task: name) }
            answers.tasks.append(name)
            answers.openTasks.append(name)
        case .end(let name):
            guard let place = answers.openTasks.firstIndex(of: name) else { throw .notOpen(task: name) }
            answers.openTasks.remove(at: place)
        case .remaining: return .remaining(Self.budget, extensionLeft: .seconds(30), reference: line.reference)
        case .write(let address, let bytes):
            answers.writes.append(request(address, bytes))
            return try answer(address, verb: "write", line.reference)
        case .read(let address):
            answers.reads.append(request(address, []))
            return try answer(address, verb: "read", line.reference)
        }
        return nil
    }

    private mutating func settle(_ sequence: Sequence, _ result: Reply.Result?) throws(ProtocolFault) {
        guard let place = owed.firstIndex(where: { $0.sequence == sequence }) else {
            throw fault(of: sequence, verb: "ack")
        }
        // An acknowledgement passes over long jobs, and closes nothing else where it names one.
        let isOfOne = owed[place].isStanding
        let closed = owed[...place].filter { isOfOne ? $0.sequence == sequence : !$0.isStanding }
        let settled = closed.map(\.sequence.rawValue)
        owed.removeAll { settled.contains($0.sequence.rawValue) }
        answers.acknowledgements.append(
            .init(sequence: sequence.rawValue, result: result.map(WorkResult.init), settled: settled))
    }

    private mutating func giveBack(_ sequence: Sequence, _ after: TimeSpan?) throws(ProtocolFault) {
        guard let place = owed.firstIndex(where: { $0.sequence == sequence }) else {
            throw fault(of: sequence, verb: "nack")
        }
        answers.retries.append(
            .init(sequence: sequence.rawValue, after: after.map { .nanoseconds($0.nanoseconds) }))
        let device = owed[place].event.device
        var returned = owed[place...].filter { $0.event.device == device }
        owed = owed[..<place] + owed[place...].filter { $0.event.device != device }
        returned += due.filter { $0.event.device == device }
        due.removeAll { $0.event.device == device }
        let isGivenUp = (returned.first?.attempts ?? 0) >= recording.mostAttempts
        holds[device] = Hold(until: isGivenUp ? nil : now + (after ?? Self.firstBackOff), events: Array(returned))
    }

    private mutating func handBack(_ sequence: Sequence, _ until: [String]) throws(ProtocolFault) {
        guard let place = owed.firstIndex(where: { $0.sequence == sequence }) else {
            throw fault(of: sequence, verb: "nack")
        }
        owed.remove(at: place)
        answers.handedBack.append(.init(sequence: sequence.rawValue, until: until))
    }

    private mutating func advance(_ sequence: Sequence, _ done: Int64, _ total: Int64?) throws(ProtocolFault) {
        guard let event = owed.first(where: { $0.sequence == sequence }) else {
            throw fault(of: sequence, verb: "progress")
        }
        guard event.isLongJob else {
            throw ProtocolFault(
                .notPermitted, "progress \(sequence.rawValue): that event is no long job, so it has no progress.",
                advice: "Acknowledge it within its budget, or open a task with begin.")
        }
        answers.progress.append(.init(sequence: sequence.rawValue, done: Int(done), total: total.map(Int.init)))
    }

    private func fault(of sequence: Sequence, verb: String) -> ProtocolFault {
        sequence.rawValue <= UInt64(numbered)
            ? .staleLease(sequence, verb: verb) : .notDelivered(sequence, verb: verb)
    }

    private func request(_ address: DeviceAddress, _ bytes: [UInt8]) -> HandlerAnswers.Request {
        .init(device: address.device, channel: address.channel?.wireName.text, bytes: bytes)
    }

    private func answer(
        _ address: DeviceAddress, verb: String, _ reference: Reference?
    ) throws(ProtocolFault) -> Notice {
        let device = recording.devices.map(\.device).first {
            $0.alias == address.device || $0.uri == address.device
        }
        guard let device else { throw .noSuchDevice(address.device, verb: verb) }
        guard case .answered(let values) = recording.requestAnswers else {
            throw .replayed(verb: verb, device: address.device)
        }
        if verb == "write" { return .reply(.written(device: device.alias), reference: reference) }
        guard let bytes = values[address.channel?.wireName.text ?? ""] else {
            throw .deviceFailed(address.device, verb: verb, why: "the test names no value for it")
        }
        return .reply(.read(device: device.alias, bytes: bytes), reference: reference)
    }
}

extension DeviceEvent.Kind {
    /// A `link-down` is reported at once, and a gap may report the loss of what is waited for.
    fileprivate var passesRetries: Bool {
        switch self {
        case .attention(let kind, _): kind == .linkDown
        case .connected, .disconnected, .data, .gap, .occasion: false
        }
    }

    fileprivate var budgetClass: BudgetClass? {
        if case .occasion(let occasion) = self { occasion.budgetClass } else { nil }
    }
}

extension HandlerAnswers.Order {
    fileprivate init(_ order: HandlerOrder) {
        var writer = JSONWriter()
        writer.value(order.value)
        self.init(verb: order.verb.rawValue, value: String(decoding: writer.bytes, as: UTF8.self))
    }
}

extension WorkResult {
    fileprivate init(_ result: Reply.Result) {
        switch result {
        case .useful: self = .useful
        case .nothing: self = .nothing
        case .failed: self = .failed
        }
    }
}
