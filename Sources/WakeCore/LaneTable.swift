// The lanes of one handler's queue: found by their device, and those with events in them by what is asked of the queue.
import WakeModel

/// What is asked for every event is answered by who stands first in an order, so that it costs the same with ten thousand devices.
struct LaneTable: Sendable {
    private var lanes: [DeviceLane] = []
    /// On which terms lanes are; a few for all of them.
    private(set) var terms: [Terms] = []
    private var placesOfTerms: [Terms: Int32] = [:]
    /// Of lanes that went empty, for those that fill next: what was used last is still in the cache.
    private(set) var spareRooms: [[QueuedEvent]] = []
    private static let spareLimit = 1_024
    /// By the device's number: where its first lane stands, which names the next; -1 where it has none. An array for each would be
    /// one more place in memory for every event.
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
    /// Up to when holds are over, on CLOCK_BOOTTIME.
    private var releasedUpTo = Instant.zero
    /// True once some lane is; they go first when there is no room.
    private(set) var hasLatest = false
    private(set) var hasAdvertisements = false

    var indices: Range<Int> { lanes.indices }
    /// Where lanes with events stand.
    var occupied: [Int] { ready.slots + held.slots }

    subscript(place: Int) -> DeviceLane {
        // Not `_read`: a debug build copies a struct out of what was yielded after that has been freed (Swift 6.3). An optimised
        // one makes no copy of the lane either way.
        get { lanes[place] }
        _modify { yield &lanes[place] }
    }

    func firstPlace(of device: DeviceID) -> Int? {
        let index = Int(device.rawValue)
        guard index < firstOfDevice.count, firstOfDevice[index] >= 0 else { return nil }
        return Int(firstOfDevice[index])
    }

    private func place(after place: Int) -> Int? {
        lanes[place].nextOfDevice < 0 ? nil : Int(lanes[place].nextOfDevice)
    }

    func places(of device: DeviceID) -> [Int] {
        var places: [Int] = []
        var place = firstPlace(of: device)
        while let found = place {
            places.append(found)
            place = self.place(after: found)
        }
        return places
    }

    func place(_ kind: DeviceLane.Kind, of device: DeviceID) -> Int? { place(of: device) { $0.kind == kind } }

    func isHeld(_ device: DeviceID, at boottime: Instant) -> Bool {
        place(of: device) { $0.isHeld(at: boottime) } != nil
    }

    /// `fits` asks the lane alone: what asked the table would have all of it copied.
    private func place(of device: DeviceID, where fits: (DeviceLane) -> Bool) -> Int? {
        var place = firstPlace(of: device)
        while let found = place, !fits(lanes[found]) { place = self.place(after: found) }
        return place
    }

    /// Makes the lane where there is none.
    mutating func place(of event: QueuedEvent, _ terms: Terms) -> Int {
        if let found = place(event.lane, of: event.device) { return found }
        var lane = DeviceLane(device: event.device, kind: event.lane, terms: (place(of: terms), terms.wakes))
        // A nack speaks of the device, whichever lanes it has by then.
        lane.heldUntil = firstPlace(of: event.device).map { lanes[$0].heldUntil } ?? .zero
        chain(lanes.count, to: event.device)
        lanes.append(lane)
        noteKind(of: lane)
        return lanes.count - 1
    }

    private mutating func chain(_ place: Int, to device: DeviceID) {
        if let last = places(of: device).last {
            lanes[last].nextOfDevice = Int32(place)
        } else {
            while firstOfDevice.count <= Int(device.rawValue) { firstOfDevice.append(-1) }
            firstOfDevice[Int(device.rawValue)] = Int32(place)
        }
    }

    private mutating func noteKind(of lane: DeviceLane) {
        if terms[Int(lane.terms)].policy == .latest { hasLatest = true }
        if lane.kind == .advertisements { hasAdvertisements = true }
    }

    func terms(at place: Int) -> Terms { terms[Int(lanes[place].terms)] }

    private mutating func place(of terms: Terms) -> Int32 {
        if let known = placesOfTerms[terms] { return known }
        let place = Int32(self.terms.count)
        self.terms.append(terms)
        placesOfTerms[terms] = place
        return place
    }

    /// Gives all lanes anew what `body` says of their devices: what nobody is on any more is forgotten.
    mutating func resetTerms(_ body: (DeviceID) -> Terms) {
        (terms, placesOfTerms) = ([], [:])
        for place in lanes.indices { setTerms(body(lanes[place].device), of: place) }
    }

    mutating func setTerms(_ terms: Terms, of place: Int) {
        lanes[place].setTerms((self.place(of: terms), terms.wakes))
        noteKind(of: lanes[place])
        refile(place)
    }

    mutating func hold(_ place: Int, until: Instant) {
        lanes[place].heldUntil = until
        held.set(nil, for: place)
        heldWaking.set(nil, for: place)
        refile(place)
    }

    /// Lets go on what was held until now or before.
    mutating func release(at boottime: Instant) {
        guard releasedUpTo < boottime else { return }
        releasedUpTo = boottime
        while let place = held.slot(upTo: boottime.nanoseconds) { hold(place, until: .zero) }
    }

    /// To be called before ``data`` is looked at.
    mutating func orderData() {
        guard !ordersData else { return }
        ordersData = true
        for place in occupied { refile(place) }
    }

    mutating func insert(_ event: QueuedEvent, at place: Int) {
        if !lanes[place].hasRoom, let room = spareRooms.popLast() { lanes[place].takeRoom(room) }
        lanes[place].insert(event)
        refile(place)
    }

    /// To be called when events went out of the lane.
    mutating func refile(_ place: Int) {
        if spareRooms.count < Self.spareLimit, let room = lanes[place].giveUpRoom() { spareRooms.append(room) }
        if ordersData { data.set(lanes[place].firstDataSequence?.key, for: place) }
        let filing = lanes[place].filing(at: releasedUpTo)
        ready.set(filing.first, for: place)
        dues.set(filing.due, for: place)
        guard filing.isHeld else { return }
        held.set(filing.end, for: place)
        heldWaking.set(filing.wakes ? filing.end : nil, for: place)
    }
}

extension Sequence {
    /// In an order.
    var key: SlotOrder.Key { SlotOrder.Key(clamping: rawValue) }
}
