// Which delivered events are still owed an answer, so that one acknowledgement never covers work that is not done.

struct OpenEvents {
    private struct Entry {
        let sequence: UInt64
        let device: String
        var result: WorkResult?
    }

    /// In the order of delivery.
    private var entries: [Entry] = []
    /// For each device with a nacked event, its sequence: until it comes again, what follows it comes again as well.
    private var nacked: [String: UInt64] = [:]

    /// Takes a delivery. False for what stands behind a nack of its device: it will come again, in order.
    mutating func open(_ event: AccessoryEvent) -> Bool {
        if !event.passesNacks {
            if let awaited = nacked[event.source], awaited != event.sequence, !event.isGap { return false }
            // A gap ends the wait too: the awaited event may be what was lost.
            nacked[event.source] = nil
        }
        // A lease that was kept too long is given again: only the later delivery can be acknowledged.
        entries.removeAll { $0.sequence == event.sequence }
        entries.append(Entry(sequence: event.sequence, device: event.source))
        return true
    }

    /// Closes one event. An acknowledgement covers everything before it, so it is due only when all of that is closed;
    /// the answer is the sequence and result to acknowledge now, if any.
    mutating func close(_ sequence: UInt64, _ result: WorkResult) -> (sequence: UInt64, result: WorkResult)? {
        guard let index = entries.firstIndex(where: { $0.sequence == sequence }) else { return nil }
        entries[index].result = result
        return acknowledgeable()
    }

    /// Gives back one event, and with it what was delivered after it of the same device. False if it is not open.
    mutating func giveBack(_ sequence: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.sequence == sequence }) else { return false }
        let device = entries[index].device
        nacked[device] = sequence
        entries = entries.enumerated().filter { $0.offset < index || $0.element.device != device }.map(\.element)
        return true
    }

    /// After a thaw, forgets what the bridge took back meanwhile.
    mutating func keep(only owed: [UInt64]) { entries.removeAll { !owed.contains($0.sequence) } }

    /// What can be acknowledged now: the closed entries that no open one precedes.
    mutating func acknowledgeable() -> (sequence: UInt64, result: WorkResult)? {
        var last: (UInt64, WorkResult)?
        while let first = entries.first, let result = first.result {
            last = (first.sequence, result)
            entries.removeFirst()
        }
        return last
    }
}

extension AccessoryEvent {
    fileprivate var isGap: Bool {
        switch kind {
        case .gap: true
        case .connected, .disconnected, .data, .attention, .unknown: false
        }
    }

    /// That the link went down while the device is held back is told at once, and ends no wait.
    fileprivate var passesNacks: Bool {
        switch kind {
        case .attention(let kind, _): kind == "link-down"
        case .connected, .disconnected, .data, .gap, .unknown: false
        }
    }
}
