// The delivered events that are not answered yet, so that an acknowledgement never covers unfinished work.

struct OpenEvents {
    private struct Entry {
        let sequence: UInt64
        let device: String
        let time: Timestamp
        let isOfDevice: Bool
        /// False while it waits in ``ArrivedEvents``: what is behind it cannot be acknowledged, and it has not begun.
        var isTaken = true
        var result: WorkResult?
    }

    /// In the order of delivery.
    private var entries: [Entry] = []
    /// Long jobs and flows: acknowledgements of other events pass over them, and each is acknowledged by itself.
    private var standing: Set<UInt64> = []
    /// The flows among them, by their numbers.
    private var flows: [UInt64: String] = [:]
    /// Each device's nacked event: until it comes again, the events after it come again too.
    private var nacked: [String: Entry] = [:]

    /// Keeps the place of a delivery that waits to be taken.
    mutating func reserve(_ event: BackgroundEvent) {
        guard !event.isStanding else { return }
        append(event)
        entries[entries.count - 1].isTaken = false
    }

    /// Adds a delivery, or takes the one whose place is kept. False for an event behind a nack of its device: it comes again,
    /// in order.
    mutating func open(_ event: BackgroundEvent) -> Bool {
        if event.isStanding {
            standing.insert(event.sequence)
            if case .flow(let change) = event.kind { flows[event.sequence] = change.name }
            return true
        }
        // Alarms, polls and jobs each have one occasion in hand at a time, so that none is out of order.
        if !event.passesNacks, event.isOfDevice {
            if let awaited = nacked[event.source], awaited.sequence != event.sequence,
                !event.mayReportLoss(at: awaited.time)
            {
                entries.removeAll { $0.sequence == event.sequence && !$0.isTaken }
                return false
            }
            nacked[event.source] = nil
        }
        if let index = entries.firstIndex(where: { $0.sequence == event.sequence && !$0.isTaken }) {
            entries[index].isTaken = true
        } else {
            append(event)
        }
        return true
    }

    private mutating func append(_ event: BackgroundEvent) {
        // A lease that was kept too long is delivered again: only the later delivery can be acknowledged.
        entries.removeAll { $0.sequence == event.sequence }
        entries.append(
            Entry(
                sequence: event.sequence, device: event.source, time: event.time, isOfDevice: event.isOfDevice))
    }

    /// Returns the numbers of those that were open.
    mutating func removeFlows(named name: String) -> [UInt64] {
        let over = flows.filter { $0.value == name }.keys.sorted()
        for sequence in over { flows[sequence] = nil }
        return over.filter { standing.remove($0) != nil }
    }

    func isOpen(_ sequence: UInt64) -> Bool {
        standing.contains(sequence)
            || entries.contains { $0.sequence == sequence && $0.isTaken && $0.result == nil }
    }

    /// Closes one event. An acknowledgement covers everything before it, so it is due only when all of that is closed.
    /// Returns the sequence and result to acknowledge now, if any.
    mutating func close(_ sequence: UInt64, _ result: WorkResult) -> (sequence: UInt64, result: WorkResult)? {
        if standing.remove(sequence) != nil { return (sequence, result) }
        guard let index = entries.firstIndex(where: { $0.sequence == sequence }) else { return nil }
        entries[index].result = result
        return acknowledgeable()
    }

    /// Returns one event to the daemon, with the later events of its device. False if it is not open.
    mutating func giveBack(_ sequence: UInt64) -> Bool {
        if standing.remove(sequence) != nil { return true }
        guard let index = entries.firstIndex(where: { $0.sequence == sequence }) else { return false }
        let refused = entries[index]
        guard refused.isOfDevice else {
            entries.remove(at: index)
            return true
        }
        nacked[refused.device] = refused
        let kept = entries.enumerated().filter { $0.offset < index || $0.element.device != refused.device }
        entries = kept.map(\.element)
        return true
    }

    /// After a thaw, removes the events that the daemon has taken back.
    mutating func keep(only owed: [UInt64]) {
        entries.removeAll { !owed.contains($0.sequence) }
        standing.formIntersection(owed)
    }

    /// The closed entries that no open one precedes: these can be acknowledged now.
    mutating func acknowledgeable() -> (sequence: UInt64, result: WorkResult)? {
        var last: (UInt64, WorkResult)?
        while let first = entries.first, let result = first.result {
            last = (first.sequence, result)
            entries.removeFirst()
        }
        return last
    }
}

extension BackgroundEvent {
    /// A gap that covers a time may report the loss of an event of that time: such an event never comes again.
    fileprivate func mayReportLoss(at time: Timestamp) -> Bool {
        gap.map { $0.from <= time && time <= $0.to } ?? false
    }

    /// A `link-down` of a device that a nack holds back comes at once, and does not end the wait.
    fileprivate var passesNacks: Bool { attention == .linkDown }
}
