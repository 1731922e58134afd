// Events that were given up on: how they leave their queue, how they are stored, and how you list, drop and retry them.
import WakeModel

extension Journal {
    /// Moves the handler's copy of the event out of its queue, for you to inspect. An event that cannot be read is kept as a gap.
    public func deadLetter(_ seq: Sequence, by handler: HandlerID, reason: String, at time: WallTime) {
        let event = event(seq)
        let letter = DeadLetter(
            seq: seq, handler: handler,
            event: event
                ?? Self.placeholder(for: seq, from: deviceOfDamaged(seq) ?? EventOrigin(rawValue: 0), at: time),
            reason: event == nil ? reason + "; its payload cannot be read" : reason, at: time)
        disk.perform(.addDeadLetter(letter))
        if disk.isDegraded { lowerFirstInMemory(to: seq.rawValue) }
        acknowledge([seq], by: handler)
    }

    /// Replaces an event that cannot be read: a gap of one, under its number.
    public static func placeholder(for seq: Sequence, from device: EventOrigin, at time: WallTime) -> DeviceEvent {
        let gap = Gap(cause: .durability, count: 1, first: seq, last: seq, from: time, to: time)
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: time)
        return DeviceEvent(origin: device, kind: .gap(gap), stamp: stamp)
    }

    private func deviceOfDamaged(_ seq: Sequence) -> EventOrigin? {
        for store in stores {
            let found = (try? store.database?.integer("SELECT device FROM events WHERE seq=\(seq.rawValue)")) ?? 0
            let id = EventOrigin(rawValue: UInt32(clamping: found))
            if identities.devices[id] != nil { return id }
        }
        return nil
    }

    /// By number; also those that a full disk keeps in memory.
    public func deadLetters() -> [DeadLetter] { disk.deadLetters() }

    /// How many each handler has, counted without reading their contents.
    public func deadLetterCounts() -> [HandlerID: Int] { disk.deadLetterCounts() }

    public func dropDeadLetters(matching matches: (DeadLetter) -> Bool) -> Int {
        let chosen = deadLetters().filter(matches)
        for letter in chosen { disk.perform(.removeDeadLetter(letter.seq, letter.handler)) }
        return chosen.count
    }

    /// Append it under a new number in the same commit, or it is lost.
    public func removeDeadLetter(_ seq: Sequence, of handler: HandlerID) -> DeadLetter? {
        guard let letter = deadLetters().first(where: { $0.seq == seq && $0.handler == handler }) else { return nil }
        disk.perform(.removeDeadLetter(seq, handler))
        return letter
    }
}

extension EventStore {
    func write(_ letter: DeadLetter, to database: Database) throws(SQLiteFailure) {
        record.encode(
            letter.event, seq: letter.seq.rawValue, owner: letter.handler.rawValue,
            suffix: DeadLetter.suffix(letter.reason, letter.at))
        let insertion = try database.statement(.addDeadLetter)
        insertion.bind(11, letter.reason)
        insertion.bind(12, letter.at.microseconds)
        try record.run(insertion)
    }

    /// The dead letters in the file, and those that this turn or a full disk still keeps in memory, by number.
    func deadLetters() -> [DeadLetter] {
        var found: [PendingDelivery: DeadLetter] = [:]
        each("SELECT * FROM dead_letters") { row in
            if let letter = DeadLetter(row, with: &record) { found[letter.key] = letter }
        }
        for op in unsaved.backlog + turn.ops {
            if case .addDeadLetter(let letter) = op { found[letter.key] = letter }
            if case .removeDeadLetter(let seq, let handler) = op {
                found[PendingDelivery(handler: handler, seq: seq)] = nil
            }
        }
        return found.values.sorted { ($0.seq, $0.handler) < ($1.seq, $1.handler) }
    }

    /// The number of dead letters of each handler, in the file and in memory.
    func deadLetterCounts() -> [HandlerID: Int] {
        var found: [HandlerID: Int] = [:]
        each("SELECT handler, count(*) FROM dead_letters GROUP BY handler") { row in
            found[HandlerID(rawValue: UInt32(clamping: row.integer(0)))] = Int(row.integer(1))
        }
        for op in unsaved.backlog + turn.ops {
            if case .addDeadLetter(let letter) = op { found[letter.handler, default: 0] += 1 }
            if case .removeDeadLetter(_, let handler) = op { found[handler, default: 0] -= 1 }
        }
        return found
    }

    /// Numbers and handlers of dead letters in the file that are damaged.
    func damagedDeadLetters() -> [(seq: Int64, handler: Int64)] {
        var found: [(seq: Int64, handler: Int64)] = []
        each("SELECT * FROM dead_letters") { row in
            if DeadLetter(row, with: &record) == nil { found.append((row.integer(0), row.integer(1))) }
        }
        return found
    }
}

extension DeadLetter {
    fileprivate var key: PendingDelivery { PendingDelivery(handler: handler, seq: seq) }

    /// The bytes that the check covers beside the event.
    fileprivate static func suffix(_ reason: String, _ at: WallTime) -> [UInt8] {
        var bytes = Array(reason.utf8)
        bytes.appendLittleEndian(at.microseconds)
        return bytes
    }

    fileprivate init?(_ row: Statement, with record: inout EventRecord) {
        let (reason, at) = (row.text(10), WallTime(microseconds: row.integer(11)))
        guard let (seq, owner, event) = record.decode(row, suffix: Self.suffix(reason, at)) else { return nil }
        self.init(seq: seq, handler: HandlerID(rawValue: owner), event: event, reason: reason, at: at)
    }
}
