// The steps of a recording, in order: the events of its devices, and the occasions that the test puts between.
internal import WakeModel

struct PlayedScript: Sendable {
    /// An event with the occasion that it came from; nil of a device.
    struct Item: Sendable {
        let event: RecordedEvent
        let occasion: PlayedOccasion?
    }

    private(set) var items: [Item] = []
    private(set) var devices: [PlayedDevice]

    /// Steps at one time come in the order of the test, devices first.
    init(_ recording: Recording) {
        devices = recording.devices
        var occasions = recording.occasions.enumerated().sorted {
            ($0.element.elapsed, $0.offset) < ($1.element.elapsed, $1.offset)
        }.map(\.element)[...]
        var wallAtStart = recording.start
        for event in recording.events {
            while let next = occasions.first, next.elapsed < event.elapsed {
                append(next, at: wallAtStart)
                occasions.removeFirst()
            }
            items.append(Item(event: event, occasion: nil))
            wallAtStart = event.wall - event.elapsed
        }
        for occasion in occasions { append(occasion, at: wallAtStart) }
    }

    private mutating func append(_ occasion: PlayedOccasion, at wallAtStart: WallTime) {
        items.append(item(occasion, elapsed: occasion.elapsed, wallAtStart: wallAtStart))
    }

    /// An occasion as an event of its entry; all of one entry have one device.
    mutating func item(_ occasion: PlayedOccasion, elapsed: TimeSpan, wallAtStart: WallTime) -> Item {
        let device = occasion.device
        let known = devices.firstIndex { $0.device.uri == device.uri }
        if known == nil { devices.append(PlayedDevice(device)) }
        let wall = wallAtStart + elapsed
        return Item(
            event: RecordedEvent(
                device: known ?? devices.count - 1, kind: .occasion(occasion.occasion(at: wall)), elapsed: elapsed,
                wall: wall),
            occasion: occasion)
    }
}
