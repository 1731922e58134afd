// The lanes of one handler's queue: found by their device, and those with events in them apart.
import WakeModel

struct LaneTable: Sendable {
    private var lanes: [DeviceLane] = []
    /// By the device's number: where its lanes stand, a few at most.
    private var placesOfDevice: [[Int]] = []
    /// Where lanes with events stand, in no order.
    private(set) var occupied: [Int] = []
    /// Where each lane stands in `occupied`; -1 while it is empty.
    private var seats: [Int] = []

    var indices: Range<Int> { lanes.indices }

    subscript(place: Int) -> DeviceLane {
        // Not `_read`: a debug build copies a struct out of what was yielded after that has been freed (Swift 6.3). An optimised
        // one makes no copy of the lane either way.
        get { lanes[place] }
        _modify { yield &lanes[place] }
    }

    func places(of device: DeviceID) -> [Int] {
        let index = Int(device.rawValue)
        return index < placesOfDevice.count ? placesOfDevice[index] : []
    }

    func place(_ kind: DeviceLane.Kind, of device: DeviceID) -> Int? {
        places(of: device).first { lanes[$0].kind == kind }
    }

    /// Makes the lane where there is none.
    mutating func place(of event: QueuedEvent, _ terms: Terms) -> Int {
        if let found = place(event.lane, of: event.device) { return found }
        var lane = DeviceLane(device: event.device, kind: event.lane, terms: terms)
        let others = places(of: event.device)
        // A nack speaks of the device, whichever lanes it has by then.
        lane.heldUntil = others.first.map { lanes[$0].heldUntil } ?? .zero
        while placesOfDevice.count <= Int(event.device.rawValue) { placesOfDevice.append([]) }
        placesOfDevice[Int(event.device.rawValue)].append(lanes.count)
        lanes.append(lane)
        seats.append(-1)
        return lanes.count - 1
    }

    /// To be called when events went into the lane or out of it.
    mutating func noteOccupation(of place: Int) {
        guard lanes[place].isEmpty == (seats[place] >= 0) else { return }
        if lanes[place].isEmpty { vacate(place) } else { occupy(place) }
    }

    private mutating func occupy(_ place: Int) {
        seats[place] = occupied.count
        occupied.append(place)
    }

    private mutating func vacate(_ place: Int) {
        let last = occupied.removeLast()
        if last != place {
            occupied[seats[place]] = last
            seats[last] = seats[place]
        }
        seats[place] = -1
    }
}
