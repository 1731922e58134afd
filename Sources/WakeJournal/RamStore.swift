// Events that only memory has: those of durability `ram`, and those a failed database could not take; and the memory of recent payloads.
import WakeModel

struct RamStore {
    struct Held {
        var event: DeviceEvent
        var owners: [HandlerID]
    }

    private(set) var events: [Sequence: Held] = [:]
    /// No event below it is held.
    private var floor = Sequence(UInt64.max)
    private var ceiling = Sequence(0)

    /// The oldest number held; the search goes on where the last one ended.
    var oldest: Sequence? {
        mutating get {
            guard !events.isEmpty else { return nil }
            while floor < ceiling, events[floor] == nil { floor = floor.next }
            return floor
        }
    }

    mutating func append(_ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID]) {
        if events.isEmpty || seq < floor { floor = seq }
        ceiling = max(ceiling, seq)
        events[seq] = Held(event: event, owners: owners)
    }

    /// False when the event is not held here.
    mutating func update(_ event: DeviceEvent, as seq: Sequence) -> Bool {
        guard events[seq] != nil else { return false }
        events[seq]?.event = event
        return true
    }

    /// How many of the numbers `handler` owed here and does no longer.
    mutating func acknowledge(_ range: ClosedRange<Sequence>, by handler: HandlerID) -> Int {
        guard !events.isEmpty else { return 0 }
        var count = 0
        var raw = range.lowerBound.rawValue
        while raw <= range.upperBound.rawValue {
            if acknowledge(Sequence(raw), by: handler) { count += 1 }
            raw += 1
        }
        return count
    }

    private mutating func acknowledge(_ seq: Sequence, by handler: HandlerID) -> Bool {
        guard let place = events[seq]?.owners.firstIndex(of: handler) else { return false }
        events[seq]?.owners.remove(at: place)
        if events[seq]?.owners.isEmpty == true { events[seq] = nil }
        return true
    }
}

/// The events appended last, for delivery without a read; the oldest go when the bound is passed.
struct RecentEvents {
    /// Bytes, payloads and the entries themselves.
    let bound: Int
    private(set) var bytes = 0
    private var entries: [(seq: Sequence, event: DeviceEvent)] = []
    private var oldest = 0

    init(bound: Int) { self.bound = bound }

    mutating func append(_ event: DeviceEvent, as seq: Sequence) {
        // Search needs rising numbers; one that is not is read from its database instead.
        if let last = entries.last, last.seq >= seq { return }
        entries.append((seq, event))
        bytes += event.footprint
        while bytes > bound, oldest < entries.count {
            bytes -= entries[oldest].event.footprint
            entries[oldest].event.kind = .connected(folded: 0)
            oldest += 1
        }
        if oldest > 64, oldest > entries.count / 2 {
            entries.removeFirst(oldest)
            oldest = 0
        }
    }

    mutating func update(_ event: DeviceEvent, as seq: Sequence) {
        guard let place = place(of: seq) else { return }
        bytes += event.footprint - entries[place].event.footprint
        entries[place].event = event
    }

    subscript(seq: Sequence) -> DeviceEvent? { place(of: seq).map { entries[$0].event } }

    private func place(of seq: Sequence) -> Int? {
        var (low, high) = (oldest, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].seq == seq ? low : nil
    }
}

extension DeviceEvent {
    /// Bytes of its payload as the caps count them.
    var payloadSize: Int {
        switch kind {
        case .data(_, let bytes): bytes.count
        case .disconnected(let reason, _): reason.utf8.count
        case .attention(_, let detail): detail.utf8.count
        case .connected, .gap: 0
        }
    }

    fileprivate var footprint: Int { payloadSize + MemoryLayout<(Sequence, DeviceEvent)>.stride + 32 }
}
