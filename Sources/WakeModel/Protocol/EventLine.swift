// The line that delivers an event to a handler: one CloudEvents 1.0 object.

/// The beginning of a line, up to the number in its id: the same in all lines that one bridge process writes.
public struct EventLineStart: Sendable {
    let text: [UInt8]

    /// - Parameter idPrefix: put before the number to make the CloudEvents id: `j7-`, or `replay-`.
    public init(idPrefix: String) {
        var writer = JSONWriter()
        writer.verbatim("{\"specversion\":\"1.0\",\"id\":")
        writer.string(idPrefix)
        text = writer.bytes.dropLast()
    }
}

/// A delivery of an event. The order of the members is part of the contract: recordings are compared byte for byte.
public struct EventLine: Sendable {
    public var event: DeviceEvent
    /// The text that all lines of this device and type share.
    public var device: DeviceText
    public var sequence: Sequence
    /// False for lines that only people see: these leave out the members that serve the acknowledgement.
    public var isOwed = true
    /// Counts the deliveries of this event to this handler, from 1.
    public var attempt: UInt32
    /// True for an event that was in flight when the bridge ended.
    public var isRedelivered: Bool
    /// The budget that is left when the line is written; shown in whole milliseconds, never below zero.
    public var budget: TimeSpan
    public var start: EventLineStart
    /// JSON text that the device's profile decoded from the bytes; nil where no profile knows them.
    public var value: [UInt8]?
    /// Why the device's profile could not decode the bytes.
    public var undecodable: String?

    public init(
        _ event: DeviceEvent, of device: DeviceText, sequence: Sequence, attempt: UInt32, isRedelivered: Bool = false,
        budget: TimeSpan, start: EventLineStart, value: [UInt8]? = nil, undecodable: String? = nil
    ) {
        self.event = event
        self.device = device
        self.sequence = sequence
        self.attempt = attempt
        self.isRedelivered = isRedelivered
        self.budget = budget
        self.start = start
        self.value = value
        self.undecodable = undecodable
    }

    /// Writes the line with its newline.
    public func write(into writer: inout JSONWriter) {
        writer.verbatim(start.text)
        writer.integer(sequence.rawValue)
        writer.verbatim(device.head)
        writer.time(event.stamp.wall)
        writer.verbatim(event.isAuthenticated ? Self.ofAuthenticated : Self.ofUnauthenticated)
        if isOwed { writeDelivery(into: &writer) }
        writer.verbatim(",\"data\":")
        writeData(into: &writer)
        writer.endObject()
        writer.newline()
    }

    private static let ofAuthenticated: StaticString =
        ",\"datacontenttype\":\"application/json\",\"authenticated\":true"
    private static let ofUnauthenticated: StaticString =
        ",\"datacontenttype\":\"application/json\",\"authenticated\":false"

    private func writeDelivery(into writer: inout JSONWriter) {
        writer.verbatim(",\"seq\":")
        writer.integer(sequence.rawValue)
        writer.verbatim(",\"attempt\":")
        writer.integer(attempt)
        if isRedelivered { writer.field("redelivered", true) }
        writer.verbatim(",\"budgetms\":")
        writer.integer(max(0, budget.wholeMilliseconds))
    }

    private func writeData(into writer: inout JSONWriter) {
        writer.beginObject()
        switch event.kind {
        case .connected(let folded):
            writeProfile(into: &writer)
            writeFolded(folded, into: &writer)
        case .disconnected(let reason, let folded):
            writeProfile(into: &writer)
            writer.field("reason", reason)
            writeFolded(folded, into: &writer)
        case .data(let channel, let bytes): writeBytes(bytes, of: channel, into: &writer)
        case .gap(let gap): gap.write(of: device.alias, into: &writer)
        case .attention(let kind, let detail):
            writer.field("kind", kind.rawValue)
            if !detail.isEmpty { writer.field("detail", detail) }
        case .occasion(let occasion): if !occasion.members.isEmpty { writer.fragment(occasion.members) }
        }
        // Inside `data`, because CloudEvents allows no underscore in the name of an attribute of the envelope.
        if !event.stamp.isClockSynchronized { writer.field("clock_synced", false) }
        writer.endObject()
    }

    private func writeBytes(_ bytes: [UInt8], of channel: Channel, into writer: inout JSONWriter) {
        writeProfile(into: &writer)
        writer.channel(channel)
        if let value {
            writer.verbatim(",\"value\":")
            writer.fragment(value)
        }
        writer.verbatim(",\"raw\":")
        writer.hexadecimal(bytes)
        if let undecodable { writer.field("undecodable", undecodable) }
        if case .fragment(let fragment) = channel { writer.field("fragment", fragment.rawValue) }
    }

    private func writeProfile(into writer: inout JSONWriter) {
        if !device.profile.isEmpty { writer.fragment(device.profile) }
    }

    private func writeFolded(_ count: UInt32, into writer: inout JSONWriter) {
        if count > 0 { writer.field("folded", count) }
    }
}

extension DeviceEvent.Kind {
    /// The CloudEvents type of a data event.
    public static let dataWireName = "wakebridge.device.data"

    /// The CloudEvents type.
    public var wireName: String {
        switch self {
        case .connected: "wakebridge.device.connected"
        case .disconnected: "wakebridge.device.disconnected"
        case .data: Self.dataWireName
        case .gap: "wakebridge.device.gap"
        case .attention: "wakebridge.device.attention"
        case .occasion(let occasion): "wakebridge.\(occasion.name)"
        }
    }
}

extension Gap {
    /// `count` is null where it cannot be known; the sequences are written only where the lost events had numbers.
    fileprivate func write(of alias: ArraySlice<UInt8>, into writer: inout JSONWriter) {
        writer.key("device")
        writer.fragment(alias)
        writer.field("cause", cause.rawValue)
        writer.field("count", count)
        if let first { writer.field("first_seq", first.rawValue) }
        if let last { writer.field("last_seq", last.rawValue) }
        writer.key("from")
        writer.time(from)
        writer.key("to")
        writer.time(to)
    }
}

extension JSONWriter {
    /// Writes the member that names the channel, without building a string for each line.
    fileprivate mutating func channel(_ channel: Channel) {
        switch channel {
        case .characteristic(let name) where name.number > 1: field("characteristic", name.description)
        case .characteristic(let name):
            key("characteristic")
            uuid(name.uuid)
        case .fragment: field("stream", "serial")
        case .report(let number):
            key("stream")
            string("report-", number: UInt64(number))
        case .stream(let name): field("stream", name)
        }
    }
}
