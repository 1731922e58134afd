// The events one handler is owed and has not been given: ordered by sequence, with what may be taken, dropped or must wait.
import WakeModel

/// What the core knows of a queued event; its bytes stay with the journal.
struct QueuedEvent: Sendable {
    enum Class: Hashable, Sendable {
        case data(Channel), connected, disconnected, attention, gap
    }

    var sequence: Sequence
    var device: DeviceID
    var kind: Class
    /// Its place in the handler's settings; 0 where the subscription is gone.
    var subscription: Int
    var wakes: Bool
    /// An attention that must not wait behind the nack it tells about.
    var passesNacks = false
    var isRedelivered = false
    var charges: UInt8 = 0
    var nacks: UInt8 = 0
    var attempts: UInt32 = 0
    /// Bytes of its line, estimated.
    var size: UInt32
    var due: Instant
    var arrived: Instant
    var wall: WallTime

    var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap: false
        }
    }
    var isData: Bool { if case .data = kind { true } else { false } }
}

struct EventQueue: Sendable {
    /// Sorted by sequence from `head` on; what stands before it was taken.
    private var storage: [QueuedEvent] = []
    private var head = 0
    private(set) var bytes = 0
    private var bytesOfSubscription: [Int] = []
    /// Connects, disconnects and attentions in the queue.
    private(set) var barrierCount = 0
    /// No event in the queue is due later than this.
    private(set) var latestDue = Instant.zero

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: QueuedEvent? { isEmpty ? nil : storage[head] }
    var events: ArraySlice<QueuedEvent> { storage[head...] }

    mutating func append(_ event: QueuedEvent) {
        account(event, 1)
        storage.append(event)
    }

    /// Puts events back that were taken; rare, so a merge may cost what it costs.
    mutating func giveBack(_ events: [QueuedEvent]) {
        guard !events.isEmpty else { return }
        for event in events { account(event, 1) }
        storage = (events + storage[head...]).sorted { $0.sequence < $1.sequence }
        head = 0
    }

    /// Takes up to `limit` events or `byteLimit` bytes in order, leaving those that `mustWait`; at least one where one may go.
    mutating func take(limit: Int, byteLimit: Int, unless mustWait: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        var taken: [QueuedEvent] = []
        var skipped: [QueuedEvent] = []
        var size = 0
        while head < storage.count, taken.count < limit {
            let event = storage[head]
            if mustWait(event) {
                skipped.append(event)
            } else {
                guard taken.isEmpty || size + Int(event.size) <= byteLimit else { break }
                size += Int(event.size)
                account(event, -1)
                taken.append(event)
            }
            head += 1
        }
        restore(skipped)
        return taken
    }

    /// Removes the first event that fits, searching from the newest back while `isReachable` holds.
    mutating func removeNewest(
        where fits: (QueuedEvent) -> Bool, while isReachable: (QueuedEvent) -> Bool
    ) -> QueuedEvent? {
        var index = storage.count - 1
        while index >= head {
            if fits(storage[index]) { return remove(at: index) }
            guard isReachable(storage[index]) else { return nil }
            index -= 1
        }
        return nil
    }

    mutating func removeOldest(where fits: (QueuedEvent) -> Bool) -> QueuedEvent? {
        storage[head...].firstIndex(where: fits).map { remove(at: $0) }
    }

    mutating func removeAll() -> [QueuedEvent] {
        let all = Array(storage[head...])
        self = EventQueue()
        return all
    }

    /// The first event that fits, changed in place.
    mutating func update(_ sequence: Sequence, _ change: (inout QueuedEvent) -> Void) {
        guard let index = storage[head...].firstIndex(where: { $0.sequence == sequence }) else { return }
        change(&storage[index])
    }

    private mutating func remove(at index: Int) -> QueuedEvent {
        let event = index == head ? storage[head] : storage.remove(at: index)
        if index == head {
            head += 1
            compact()
        }
        account(event, -1)
        return event
    }

    private mutating func restore(_ skipped: [QueuedEvent]) {
        if skipped.isEmpty {
            compact()
        } else {
            storage.replaceSubrange(..<head, with: skipped)
            head = 0
        }
    }

    /// Moving the rest down costs its length, so it is done only when the taken part has outgrown it.
    private mutating func compact() {
        if head == storage.count {
            storage.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    func bytes(of subscription: Int) -> Int {
        subscription < bytesOfSubscription.count ? bytesOfSubscription[subscription] : 0
    }

    private mutating func account(_ event: QueuedEvent, _ sign: Int) {
        while bytesOfSubscription.count <= event.subscription { bytesOfSubscription.append(0) }
        bytesOfSubscription[event.subscription] += sign * Int(event.size)
        bytes += sign * Int(event.size)
        latestDue = max(latestDue, event.due)
        if event.isBarrier { barrierCount += sign }
    }
}
