// Events that only memory has: those of durability `ram`, and those a failed database could not take. Also recent payloads.
import WakeModel

/// In the order of their numbers, which rise, so that an event on its way needs no hash.
struct RamStore {
    struct Held {
        var seq: Sequence
        var event: DeviceEvent
        /// Empty once all have acknowledged it, until its place is used again.
        var handlers: [HandlerID]
    }

    /// The entries before `first` are acknowledged.
    private var entries: [Held] = []
    private var first = 0
    private(set) var count = 0
    /// The oldest number that a gap here reports, while anything is here.
    private var oldestReported: Sequence?

    var isEmpty: Bool { count == 0 }
    var events: some Swift.Sequence<Held> { entries[first...].lazy.filter { !$0.handlers.isEmpty } }
    /// The first number that is lost with it.
    var oldest: Sequence? { isEmpty ? nil : min(entries[first].seq, oldestReported ?? entries[first].seq) }

    subscript(seq: Sequence) -> DeviceEvent? { place(of: seq).map { entries[$0].event } }

    mutating func append(_ event: DeviceEvent, as seq: Sequence, for handlers: [HandlerID]) {
        guard !handlers.isEmpty else { return }
        if isEmpty { oldestReported = nil }
        includeReport(of: event)
        let held = Held(seq: seq, event: event, handlers: handlers)
        let place = entries.last.map { $0.seq < seq } ?? true ? entries.count : lowerBound(of: seq)
        if place < entries.count, entries[place].seq == seq {
            if entries[place].handlers.isEmpty { count += 1 }
            entries[place] = held
        } else {
            entries.insert(held, at: place)
            count += 1
        }
    }

    private mutating func includeReport(of event: DeviceEvent) {
        if let first = event.firstReported { oldestReported = min(first, oldestReported ?? first) }
    }

    mutating func update(_ event: DeviceEvent, as seq: Sequence) -> Bool {
        guard let place = place(of: seq) else { return false }
        includeReport(of: event)
        entries[place].event = event
        return true
    }

    /// How many of the numbers were pending for the handler here.
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
        guard let index = entries[place].handlers.firstIndex(of: handler) else { return false }
        if entries[place].handlers.count > 1 {
            entries[place].handlers.remove(at: index)
        } else {
            entries[place].handlers = []
            // Frees its bytes; its place may have to wait for older ones.
            entries[place].event.kind = .connected(folded: 0)
            count -= 1
        }
        return true
    }

    /// Moves the rest down only when less is left than is acknowledged.
    private mutating func compact() {
        while first < entries.count, entries[first].handlers.isEmpty { first += 1 }
        if first == entries.count {
            entries.removeAll(keepingCapacity: first <= 1_024)
            first = 0
        } else if entries.count > 64, count < entries.count / 2 {
            entries = entries[first...].filter { !$0.handlers.isEmpty }
            first = 0
        }
    }

    private func place(of seq: Sequence) -> Int? {
        guard !isEmpty else { return nil }
        let place = lowerBound(of: seq)
        guard place < entries.count, entries[place].seq == seq, !entries[place].handlers.isEmpty else { return nil }
        return place
    }

    private func lowerBound(of seq: Sequence) -> Int {
        firstPlace(in: first..<entries.count) { entries[$0].seq >= seq }
    }
}

/// The first place where the condition holds; it must hold for all behind it.
private func firstPlace(in places: Range<Int>, where holds: (Int) -> Bool) -> Int {
    var (low, high) = (places.lowerBound, places.upperBound)
    while low < high {
        let middle = (low + high) / 2
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    return low
}

/// Events of a database that are in memory too.
struct EventCache {
    var recent = RecentEvents(bound: 256 << 10)
    /// Cleared whenever the database changes.
    var fetched = FetchedEvents()
}

/// The events appended last, for delivery without a read. The oldest go when the bound is passed.
struct RecentEvents {
    /// Bytes, of payloads and of the entries themselves.
    let bound: Int
    private(set) var bytes = 0
    private var entries: [(seq: Sequence, event: DeviceEvent)] = []
    private var oldest = 0

    init(bound: Int) { self.bound = bound }

    mutating func append(_ event: DeviceEvent, as seq: Sequence) {
        // Search needs rising numbers; any other event is read from its database.
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
        let place = firstPlace(in: oldest..<entries.count) { entries[$0].seq >= seq }
        return place < entries.count && entries[place].seq == seq ? place : nil
    }
}

struct FetchedEvents {
    /// Bytes.
    static let limit = 64 << 10

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
        case .occasion(let occasion): occasion.payload.count
        case .connected, .gap: 0
        }
    }

    fileprivate var footprint: Int { payloadSize + MemoryLayout<(Sequence, DeviceEvent)>.stride + 32 }
}
