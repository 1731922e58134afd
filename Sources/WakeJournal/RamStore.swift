// Events that only memory has: those of durability `ram`, and those a failed database could not take; and the memory of recent payloads.
import WakeModel

/// In the order of their numbers, which rise: no hash is made on the way of an event.
struct RamStore {
    struct Held {
        var seq: Sequence
        var event: DeviceEvent
        /// Empty once nobody owes it any more and its place is not used again yet.
        var owners: [HandlerID]
    }

    /// From `first` on; what stands before it is over.
    private var entries: [Held] = []
    private var first = 0
    private(set) var count = 0
    /// The oldest number that a gap here tells of, while anything is here.
    private var oldestTold: Sequence?

    var isEmpty: Bool { count == 0 }
    var events: some Swift.Sequence<Held> { entries[first...].lazy.filter { !$0.owners.isEmpty } }
    /// What is lost with it begins there.
    var oldest: Sequence? { isEmpty ? nil : min(entries[first].seq, oldestTold ?? entries[first].seq) }

    subscript(seq: Sequence) -> DeviceEvent? { place(of: seq).map { entries[$0].event } }

    mutating func append(_ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID]) {
        guard !owners.isEmpty else { return }
        if isEmpty { oldestTold = nil }
        noteTold(event)
        let held = Held(seq: seq, event: event, owners: owners)
        let place = entries.last.map { $0.seq < seq } ?? true ? entries.count : lowerBound(of: seq)
        if place < entries.count, entries[place].seq == seq {
            if entries[place].owners.isEmpty { count += 1 }
            entries[place] = held
        } else {
            entries.insert(held, at: place)
            count += 1
        }
    }

    private mutating func noteTold(_ event: DeviceEvent) {
        guard let first = event.firstTold else { return }
        oldestTold = min(first, oldestTold ?? first)
    }

    /// False when the event is not held here.
    mutating func update(_ event: DeviceEvent, as seq: Sequence) -> Bool {
        guard let place = place(of: seq) else { return false }
        noteTold(event)
        entries[place].event = event
        return true
    }

    /// How many of the numbers `handler` owed here and does no longer.
    mutating func acknowledge(_ range: ClosedRange<Sequence>, by handler: HandlerID) -> Int {
        guard !isEmpty else { return 0 }
        var found = 0
        var place = lowerBound(of: range.lowerBound)
        while place < entries.count, entries[place].seq <= range.upperBound {
            if release(place, from: handler) { found += 1 }
            place += 1
        }
        if found > 0 { compact() }
        return found
    }

    private mutating func release(_ place: Int, from handler: HandlerID) -> Bool {
        guard let owner = entries[place].owners.firstIndex(of: handler) else { return false }
        if entries[place].owners.count > 1 {
            entries[place].owners.remove(at: owner)
        } else {
            entries[place].owners = []
            // Its bytes go at once; its place may have to wait for older ones.
            entries[place].event.kind = .connected(folded: 0)
            count -= 1
        }
        return true
    }

    /// Moves the rest down only when more is over than is left.
    private mutating func compact() {
        while first < entries.count, entries[first].owners.isEmpty { first += 1 }
        if first == entries.count {
            entries.removeAll(keepingCapacity: first <= 1_024)
            first = 0
        } else if entries.count > 64, count < entries.count / 2 {
            entries = entries[first...].filter { !$0.owners.isEmpty }
            first = 0
        }
    }

    private func place(of seq: Sequence) -> Int? {
        guard !isEmpty else { return nil }
        let place = lowerBound(of: seq)
        guard place < entries.count, entries[place].seq == seq, !entries[place].owners.isEmpty else { return nil }
        return place
    }

    private func lowerBound(of seq: Sequence) -> Int {
        var (low, high) = (first, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low
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

/// What a database holds between two numbers.
struct FetchedEvents {
    var range: ClosedRange<Sequence>?
    var events = RecentEvents(bound: 0)
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
