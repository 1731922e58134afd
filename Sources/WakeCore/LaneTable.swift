// The lanes of one handler's queue: found by what stands in them, and those with events in them by what is asked of the queue.
import WakeModel

/// What is asked for every event is answered by who stands first in an order, so that it costs the same with ten thousand devices.
///
/// Devices on the same terms share lanes: an event is put behind the last and taken from the front, wherever its device is. A
/// lane for each of ten thousand would be found cold by nearly every event. In lanes of its own stands what a nack holds back
/// once it would come first, what `latest` may replace, what nobody subscribes to, gaps, what passes nacks, and what
/// breaks the order of the shared lane.
struct LaneTable: Sendable {
    private var lanes: [EventLane] = []
    /// On which terms lanes are; a few for all of them.
    private(set) var terms: [Terms] = []
    private var indicesOfTerms: [Terms: Int32] = [:]
    /// Where the lanes stand that devices share, by their terms and kind; -1 where there is none yet.
    private var shared: [Int32] = []
    /// Where lanes stand that nobody has any more.
    private var spare: [Int] = []
    /// By the device's number: the index of the terms on which it shares lanes; -1 of one that shares none.
    private var homes: [Int32] = []
    /// By the device's number: where its first own lane stands, which names the next; -1 where it has none.
    private var firstOfDevice: [Int32] = []
    /// Lanes with events that no nack holds back, by their lowest number; and those of them that wake, by when.
    private(set) var ready = SlotOrder()
    private(set) var dues = SlotOrder()
    /// Lanes with events that a nack holds back, by its end; and those of them that wake.
    private(set) var held = SlotOrder()
    private(set) var heldWaking = SlotOrder()
    /// Lanes with data, held back or not, by their oldest; empty while nothing had to make room.
    private(set) var data = SlotOrder()
    private var ordersData = false
    /// Up to when holds are over, and after which none lasts, on CLOCK_BOOTTIME.
    private var releasedUpTo = Instant.zero
    private var holdsUntil = Instant.zero
    /// True once some lane is; they go first when there is no room.
    private(set) var hasLatest = false
    private(set) var hasAdvertisements = false

    /// Where lanes with events stand.
    var occupied: [Int] { ready.slots + held.slots }

    subscript(place: Int) -> EventLane {
        // Not `_read`: a debug build copies a struct out of what was yielded after that has been freed (Swift 6.3). An optimised
        // one makes no copy of the lane either way.
        get { lanes[place] }
        _modify { yield &lanes[place] }
    }

    mutating func insert(_ event: QueuedEvent, at place: Int) {
        lanes[place].insert(event)
        refile(place)
    }

    /// To be called when events went out of the lane.
    mutating func refile(_ place: Int) {
        if lanes[place].origin == nil, releasedUpTo < holdsUntil { divertHeld(from: place) }
        if ordersData { data.set(firstData(at: place), for: place) }
        let filing = lanes[place].filing(at: releasedUpTo)
        ready.set(filing.first, for: place)
        dues.set(filing.due, for: place)
        guard filing.isHeld else { return }
        held.set(filing.end, for: place)
        heldWaking.set(filing.wakes ? filing.end : nil, for: place)
    }

    /// Who is held back stands before nobody. Not before it stands first: a nack looks at nothing of others.
    private mutating func divertHeld(from place: Int) {
        while let first = lanes[place].first, isHeld(first.origin, at: releasedUpTo) {
            let terms = terms(at: place)
            let events = lanes[place].popFirst(of: first.origin)
            let own = ownPlace(of: first, terms)
            if lanes[own].append(events) { refile(own) } else { insert(events, terms) }
        }
    }

    private mutating func insert(_ events: [QueuedEvent], _ terms: Terms) {
        for event in events { insert(event, at: ownPlace(of: event, terms)) }
    }

    private func firstData(at place: Int) -> SlotOrder.Key? {
        switch lanes[place].kind {
        case .data, .advertisements: lanes[place].first?.sequence.key
        case .barriers, .urgent, .gaps: nil
        }
    }

    /// To be called before ``data`` is looked at.
    mutating func orderData() {
        guard !ordersData else { return }
        ordersData = true
        for place in occupied { refile(place) }
    }
}

// MARK: - Finding lanes

extension LaneTable {
    /// Where the event belongs; makes the lane where there is none. What its device is owed on already counts, not `terms`.
    mutating func place(of event: QueuedEvent, _ terms: Terms) -> Int {
        var home = home(of: event.origin)
        if home < 0, terms.sharesLanes, firstPlace(of: event.origin) == nil {
            home = index(of: terms)
            setHome(home, of: event.origin)
        }
        if home >= 0, let place = sharedPlace(event.lane, home), lanes[place].takes(event, self.terms[Int(home)]) {
            return place
        }
        return ownPlace(of: event, self.terms(of: event.origin) ?? terms)
    }

    private func home(of device: EventOrigin) -> Int32 {
        let index = Int(device.rawValue)
        return index < homes.count ? homes[index] : -1
    }

    private mutating func setHome(_ home: Int32, of device: EventOrigin) {
        while homes.count <= Int(device.rawValue) { homes.append(-1) }
        homes[Int(device.rawValue)] = home
    }

    private mutating func sharedPlace(_ kind: EventLane.Kind, _ terms: Int32) -> Int? {
        guard let number = kind.sharedNumber else { return nil }
        let index = Int(terms) * EventLane.Kind.sharedCount + number
        while shared.count <= index { shared.append(-1) }
        if shared[index] < 0 {
            shared[index] = Int32(add(EventLane(kind, of: nil, terms: (terms, self.terms[Int(terms)].wakes))))
        }
        return Int(shared[index])
    }

    /// The first of the device's own that it does not put out of order.
    private mutating func ownPlace(of event: QueuedEvent, _ terms: Terms) -> Int {
        var place = firstPlace(of: event.origin)
        while let found = place {
            if lanes[found].takes(event, terms) { return found }
            place = self.place(after: found)
        }
        return make(event.lane, of: event.origin, terms)
    }

    private mutating func make(_ kind: EventLane.Kind, of device: EventOrigin, _ terms: Terms) -> Int {
        var lane = EventLane(kind, of: device, terms: (index(of: terms), terms.wakes))
        let former = ownPlaces(of: device)
        // A nack speaks of the device, whichever lanes it has by then.
        if let first = former.first { lane.heldUntil = lanes[first].heldUntil }
        let place = add(lane)
        if let last = former.last {
            lanes[last].nextOfDevice = Int32(place)
        } else {
            while firstOfDevice.count <= Int(device.rawValue) { firstOfDevice.append(-1) }
            firstOfDevice[Int(device.rawValue)] = Int32(place)
        }
        return place
    }

    private mutating func add(_ lane: EventLane) -> Int {
        noteKind(of: lane)
        guard let place = spare.popLast() else {
            lanes.append(lane)
            return lanes.count - 1
        }
        lanes[place] = lane
        return place
    }

    private mutating func noteKind(of lane: EventLane) {
        if terms[Int(lane.terms)].policy == .latest { hasLatest = true }
        if lane.kind == .advertisements { hasAdvertisements = true }
    }

    private func firstPlace(of device: EventOrigin) -> Int? {
        let index = Int(device.rawValue)
        guard index < firstOfDevice.count, firstOfDevice[index] >= 0 else { return nil }
        return Int(firstOfDevice[index])
    }

    private func place(after place: Int) -> Int? {
        lanes[place].nextOfDevice < 0 ? nil : Int(lanes[place].nextOfDevice)
    }

    private func ownPlaces(of device: EventOrigin) -> [Int] {
        var places: [Int] = []
        var place = firstPlace(of: device)
        while let found = place {
            places.append(found)
            place = self.place(after: found)
        }
        return places
    }

    func ownPlaces(_ kind: EventLane.Kind, of device: EventOrigin) -> [Int] {
        ownPlaces(of: device).filter { lanes[$0].kind == kind }
    }
}

// MARK: - Nacks

extension LaneTable {
    /// Of whom nothing was ever queued nothing was refused.
    mutating func hold(_ device: EventOrigin, until: Instant) {
        guard let terms = terms(of: device) else { return }
        keep(terms, of: device)
        holdsUntil = max(holdsUntil, until)
        for place in ownPlaces(of: device) { hold(at: place, until: until) }
        for place in sharedPlaces(of: device) { refile(place) }
    }

    func isHeld(_ device: EventOrigin, at boottime: Instant) -> Bool {
        firstPlace(of: device).map { boottime < lanes[$0].heldUntil } ?? false
    }

    /// Only an own lane holds back; a spare one may be on terms that are no more.
    mutating func letAllGo() {
        for place in lanes.indices where lanes[place].origin != nil { hold(at: place, until: .zero) }
    }

    private mutating func hold(at place: Int, until: Instant) {
        lanes[place].heldUntil = until
        held.set(nil, for: place)
        heldWaking.set(nil, for: place)
        refile(place)
    }

    /// Lets go on what was held until now or before.
    mutating func release(at boottime: Instant) {
        guard releasedUpTo < boottime else { return }
        releasedUpTo = boottime
        while let place = held.slot(upTo: boottime.nanoseconds) { hold(at: place, until: .zero) }
    }
}

// MARK: - Terms

extension LaneTable {
    func terms(at place: Int) -> Terms { terms[Int(lanes[place].terms)] }

    func terms(of device: EventOrigin) -> Terms? {
        let home = home(of: device)
        if home >= 0 { return terms[Int(home)] }
        return firstPlace(of: device).map { terms(at: $0) }
    }

    private mutating func index(of terms: Terms) -> Int32 {
        if let known = indicesOfTerms[terms] { return known }
        let index = Int32(self.terms.count)
        self.terms.append(terms)
        indicesOfTerms[terms] = index
        return index
    }

    /// Gives one device's events other terms; false where they are on these.
    mutating func setTerms(_ terms: Terms, of device: EventOrigin) -> Bool {
        guard let former = self.terms(of: device), former != terms else { return false }
        let events = remove(from: ownPlaces(of: device) + sharedPlaces(of: device)) { $0.origin == device }
        settle(device, terms)
        // Among many others' they would have to be put one by one.
        insert(events, terms)
        return true
    }

    /// Gives all events anew what `body` says of their devices: what nobody is on any more is forgotten.
    mutating func resetTerms(_ body: (EventOrigin) -> Terms) {
        let events = remove(from: occupied) { _ in true }
        let devices = (0..<max(homes.count, firstOfDevice.count)).map { EventOrigin(rawValue: UInt32($0)) }
        let known = devices.filter { terms(of: $0) != nil }
        spare += shared.filter { $0 >= 0 }.map { Int($0) }
        (shared, terms, indicesOfTerms) = ([], [], [:])
        (hasLatest, hasAdvertisements) = (false, false)
        for device in known { settle(device, body(device)) }
        for event in events { insert(event, at: place(of: event, .orphaned)) }
    }

    private mutating func settle(_ device: EventOrigin, _ terms: Terms) {
        for place in ownPlaces(of: device) {
            lanes[place].setTerms((index(of: terms), terms.wakes))
            noteKind(of: lanes[place])
        }
        setHome(terms.sharesLanes ? index(of: terms) : -1, of: device)
        if !terms.sharesLanes { keep(terms, of: device) }
    }

    /// By a lane of its own, be it empty: what it was given may come back.
    private mutating func keep(_ terms: Terms, of device: EventOrigin) {
        if firstPlace(of: device) == nil { _ = make(.data, of: device, terms) }
    }

    private func sharedPlaces(of device: EventOrigin) -> [Int] {
        let start = Int(home(of: device)) * EventLane.Kind.sharedCount
        guard start >= 0, start < shared.count else { return [] }
        return shared[start..<min(start + EventLane.Kind.sharedCount, shared.count)].filter { $0 >= 0 }.map { Int($0) }
    }

    /// In order.
    private mutating func remove(from places: [Int], where fits: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        var events: [QueuedEvent] = []
        for place in places {
            events += lanes[place].removeAll(where: fits)
            refile(place)
        }
        return events.sorted { $0.sequence < $1.sequence }
    }
}

extension EventLane.Kind {
    /// Among the kinds of which devices may share a lane.
    fileprivate var sharedNumber: Int? {
        switch self {
        case .data: 0
        case .advertisements: 1
        case .barriers: 2
        case .urgent, .gaps: nil
        }
    }
    fileprivate static let sharedCount = 3
}

extension Terms {
    /// `latest` replaces a device's last, and what nobody subscribes to is on terms that its device may soon have.
    fileprivate var sharesLanes: Bool { subscription != nil && policy != .latest }
}

extension Sequence {
    /// In an order.
    var key: SlotOrder.Key { SlotOrder.Key(clamping: rawValue) }
}
