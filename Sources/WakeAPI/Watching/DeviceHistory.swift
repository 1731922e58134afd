// Keeps the history of devices: the wake path only puts their events aside, which are decoded later, many at once.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class DeviceHistory: EventSink {
    private let catalog: Catalog
    private var book: HistoryBook
    private var heard: [DeviceEvent] = []
    private var heardBytes = 0
    private var decoding: Deferred?
    /// A trace's events are of other times.
    private let usesOwnTime: Bool
    private var value = JSONWriter(reserving: 256)

    /// The number of events that are decoded together, when the loop has nothing else to do.
    private static let batch = 64
    /// More are decoded at once: they would take too much memory.
    private static let mostHeard = 1024
    private static let mostBytes = 256 << 10

    init(_ catalog: Catalog, on loop: EventLoop, usesOwnTime: Bool) throws(SystemError) {
        self.catalog = catalog
        self.usesOwnTime = usesOwnTime
        book = HistoryBook(begin: SystemClock.wall())
        decoding = try loop.deferred(priority: .idle, of: self) { $0.decode() }
    }

    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        switch event.kind {
        case .data(_, let bytes): heardBytes += bytes.count
        case .connected, .disconnected, .gap: break
        case .attention, .occasion: return
        }
        heard.append(event)
        if usesOwnTime { heard[heard.count - 1].stamp.wall = SystemClock.wall() }
        if heard.count >= Self.mostHeard || heardBytes >= Self.mostBytes { return decode() }
        if heard.count == Self.batch { decoding?.schedule() }
    }

    /// The data of the device's chart. The device has a place in the history from then on.
    func page(of entry: Catalog.DeviceEntry, at time: WallTime) -> HistoryBook.Page? {
        decode()
        book.ask(for: entry.id, at: time)
        if entry.isConnected == false { book.wasAway(entry.id, why: "it was not connected") }
        return book.page(of: entry.id)
    }

    private func decode() {
        let events = heard
        heard.removeAll(keepingCapacity: events.count <= Self.mostHeard)
        heardBytes = 0
        for event in events { record(event) }
    }

    private func record(_ event: DeviceEvent) {
        let (device, time) = (event.origin, event.stamp.wall)
        switch event.kind {
        case .connected: book.connected(device, at: time)
        case .disconnected(let reason, _): book.disconnected(device, why: "the link ended: \(reason)", at: time)
        case .data: book.record(values(of: event), of: device, at: time)
        case .gap(let gap): book.lost(device, HistoryBook.Gap(gap, endingAt: usesOwnTime ? time : gap.to))
        case .attention, .occasion: break
        }
    }

    /// Returns nothing where no profile decodes the event.
    private func values(of event: DeviceEvent) -> [FieldValue] {
        guard case .data(let channel, let bytes) = event.kind, let text = decoded(event, channel, bytes),
            let json = try? JSONValue(parsing: text)
        else { return [] }
        return FieldValue.all(in: json, below: channel.nameOfTwin.map { $0 + "." } ?? "")
    }

    /// Decodes with the profile here, or takes the value that the device's bridge made.
    private func decoded(_ event: DeviceEvent, _ channel: Channel, _ bytes: [UInt8]) -> [UInt8]? {
        guard let profile = catalog.entry(event.origin)?.profile else { return event.heard.madeElsewhere.value }
        value.removeAll()
        let decoder = catalog.profiles.decoder(profile)
        let isDecoded = try? decoder.decode(bytes, from: channel, heard: event.heard, into: &value)
        return isDecoded == true ? value.bytes : nil
    }
}

extension DeviceHistory: TurnObserver {
    func clockChanged(_ change: ClockWatch.Change) {
        guard case .set(let step) = change, step < .zero else { return }
        decode()
        book.remove(after: SystemClock.wall())
    }
}

extension FieldValue {
    /// The numbers of a decoded value; those of an object in it have its name before theirs.
    static func all(in value: JSONValue, below prefix: String = "") -> [FieldValue] {
        guard case .object(let members) = value else { return [] }
        return members.flatMap { member in
            if let number = member.value.number { return [FieldValue(name: prefix + member.name, number: number)] }
            return all(in: member.value, below: "\(prefix)\(member.name).")
        }
    }
}

extension HistoryBook.Gap {
    fileprivate init(_ gap: Gap, endingAt end: WallTime) {
        let count = gap.count.map { Int($0).counted("event") } ?? "an unknown number of events"
        self.init(
            from: end - gap.to.span(since: gap.from), until: end, cause: gap.cause.rawValue,
            why: "\(count) lost: \(gap.cause.rawValue)")
    }
}
