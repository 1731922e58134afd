// Deliveries and notices as the bytes that are written to a handler: the journal's event, the profile's value, one line.
import WakeAgenda
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles

package final class LineComposer {
    package let catalog: Catalog
    private let clock: any WakeClock
    /// `j7-`, or `replay-`: what the ids of events begin with.
    private let start: EventLineStart
    private let noticePrefix: String
    private var noticeCount: UInt64
    /// The last value that a profile decoded; its memory is used again for the next.
    private var value = JSONWriter(reserving: 256)

    /// - Parameter earlier: that of an earlier life of the bridge, whose ids of notices are not used again.
    init(catalog: Catalog, idPrefix: String, clock: any WakeClock, after earlier: LineComposer? = nil) {
        self.catalog = catalog
        noticeCount = earlier?.noticeCount ?? 0
        start = EventLineStart(idPrefix: idPrefix)
        self.clock = clock
        // Ids of notices are counted from the bridge's start, so its instant makes them unique over restarts.
        noticePrefix =
            idPrefix == Self.replayPrefix ? "\(idPrefix)n" : "\(idPrefix)n\(clock.stamp().wall.microseconds)-"
    }

    package static let replayPrefix = "replay-"

    func compose(_ delivery: Delivery, for handler: HandlerID, in turn: Turn, into writer: inout JSONWriter) {
        switch delivery.preface {
        case .none: break
        case .restored(let reason): write(.restored(restoration(of: handler, reason, in: turn)), into: &writer)
        case .resumed(let frozenFor, let reason, let open):
            write(.resumed(frozenFor: frozenFor, reason: reason.wireName, open: open), into: &writer)
        }
        composeLines(of: delivery, in: turn, into: &writer)
    }

    /// Writes the delivered lines, without any about the wake.
    func composeLines(of delivery: Delivery, in turn: Turn, into writer: inout JSONWriter) {
        for notice in delivery.notices { write(notice, into: &writer) }
        let last = delivery.events.last?.sequence ?? Sequence(0)
        if delivery.events.count > 1 { catalog.prefetchTemplates(of: delivery.events.lazy.map(\.origin)) }
        for delivered in delivery.events {
            // A gap replaces an event that cannot be read any more; the journal reports it to the operator.
            let event =
                turn.event(delivered.sequence, before: last)
                ?? Journal.placeholder(for: delivered.sequence, from: delivered.origin, at: clock.stamp().wall)
            write(
                event, delivered.sequence, delivered.attempt, delivered.isRedelivered,
                delivered.ownBudget ?? delivery.budget, into: &writer)
        }
    }

    func compose(_ notice: Notice, into writer: inout JSONWriter) { write(notice, into: &writer) }

    /// The line of an event that no handler gets: it has an id of its own, and nothing to acknowledge.
    package func compose(unnumbered event: DeviceEvent) -> [UInt8] {
        let template = catalog.template(of: event)
        noticeCount += 1
        let decoded = decode(event, template.decoder)
        var line = EventLine(
            event, of: template.text, sequence: Sequence(noticeCount), attempt: 0, budget: .zero,
            start: EventLineStart(idPrefix: noticePrefix), value: decoded.value, undecodable: decoded.fault)
        line.isOwed = false
        var writer = JSONWriter()
        line.write(into: &writer)
        return writer.bytes
    }

    /// The line of an event as `watch` shows it, and the value that is in it.
    package func composeWithValue(
        _ event: DeviceEvent, as sequence: Sequence?, budget: TimeSpan
    ) -> (line: [UInt8], value: [UInt8]?) {
        let template = catalog.template(of: event)
        let decoded = decode(event, template.decoder)
        if sequence == nil { noticeCount += 1 }
        var line = EventLine(
            event, of: template.text, sequence: sequence ?? Sequence(noticeCount), attempt: 1, budget: budget,
            start: sequence == nil ? EventLineStart(idPrefix: noticePrefix) : start, value: decoded.value,
            undecodable: decoded.fault)
        line.isOwed = sequence != nil
        var writer = JSONWriter()
        line.write(into: &writer)
        return (writer.bytes, decoded.value)
    }

    /// The line of an event that a handler gets, as `watch` shows it.
    package func compose(_ event: DeviceEvent, as sequence: Sequence, attempt: UInt32 = 1, budget: TimeSpan) -> [UInt8]
    {
        var writer = JSONWriter()
        write(event, sequence, attempt, false, budget, into: &writer)
        return writer.bytes
    }

    private func write(_ notice: Notice, into writer: inout JSONWriter) {
        noticeCount += 1
        notice.write(into: &writer, idPrefix: noticePrefix, number: noticeCount, time: clock.stamp().wall)
    }

    private func write(
        _ event: DeviceEvent, _ sequence: Sequence, _ attempt: UInt32, _ isRedelivered: Bool, _ budget: TimeSpan,
        into writer: inout JSONWriter
    ) {
        let template = catalog.template(of: event)
        let decoded = decode(event, template.decoder)
        EventLine(
            event, of: template.text, sequence: sequence, attempt: attempt, isRedelivered: isRedelivered,
            budget: budget,
            start: start, value: decoded.value, undecodable: decoded.fault
        ).write(into: &writer)
    }

    /// The value of a device's message, or why the profile that should know it does not.
    private func decode(_ event: DeviceEvent, _ decoder: ProfileDecoder?) -> (value: [UInt8]?, fault: String?) {
        guard case .data(let channel, let bytes) = event.kind else { return (nil, nil) }
        guard let decoder else { return event.heard.madeElsewhere }
        value.removeAll()
        do {
            return (try decoder.decode(bytes, from: channel, heard: event.heard, into: &value) ? value.bytes : nil, nil)
        } catch {
            return (nil, error.description)
        }
    }

    private func restoration(of handler: HandlerID, _ reason: WakeReason, in turn: Turn) -> Restoration {
        var restoration = Restoration(reason: reason.wireName)
        restoration.links = catalog.devices(heardBy: handler).map {
            Restoration.Link(device: $0.device, isConnected: $0.isConnected ?? false)
        }
        restoration.subscriptions = (catalog.handlers[handler]?.settings.subscriptions ?? []).map {
            Restoration.Subscription(
                profile: $0.profile, device: $0.device, wakes: $0.wakes, policy: $0.policy.rawValue,
                durability: $0.durability.rawValue)
        }
        restoration.counters = turn.counters(of: handler)
        restoration.checkpoint = turn.journal.checkpoint(of: handler)
        if turn.agenda.isConcerned(handler) { restoration.pending = turn.pending(of: handler).text }
        restoration.peripheral = turn.peripheral(of: handler).map { Restoration.Peripheral($0) }
        return restoration
    }
}

extension Restoration.Peripheral {
    package init(_ standing: PeripheralStanding) {
        self.init(
            isRegistered: standing.isRegistered, isAdvertised: standing.isAdvertised,
            subscribers: standing.subscribers.map {
                Subscriber(characteristic: $0.characteristic.description, central: $0.central)
            })
    }
}

extension HeardValue {
    /// The value or fault of an event whose profile only the other bridge has.
    package var madeElsewhere: (value: [UInt8]?, fault: String?) {
        switch form {
        case .value: (Array(text), nil)
        case .fault: (nil, String(decoding: text, as: UTF8.self))
        case .members, .nothing, nil: (nil, nil)
        }
    }
}
