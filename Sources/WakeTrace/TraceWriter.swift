// Writes a trace in its canonical form, in which equal traces are equal byte for byte.
import WakeModel

/// Appends to the caller's bytes: first the header, then operations in order of time, then `end`.
public struct TraceWriter: Sendable {
    private let header: TraceHeader
    private var offset = TimeSpan.zero

    public init(header: TraceHeader) { self.header = header }

    /// A whole trace that is small enough to be held in memory.
    public static func whole(_ header: TraceHeader, _ operations: [TraceOperation]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = TraceWriter(header: header)
        writer.writeHeader(to: &bytes)
        for operation in operations { writer.write(operation, to: &bytes) }
        writer.writeEnd(to: &bytes)
        return bytes
    }

    public func writeHeader(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "wakebridge-trace 1\nclock \(header.start.rfc3339)".utf8)
        if let zone = header.zone { bytes.append(contentsOf: " zone=\(zone)".utf8) }
        if header.seed > 0 { bytes.append(contentsOf: " seed=\(header.seed)".utf8) }
        bytes.append(UInt8(ascii: "\n"))
        for device in header.devices { write(device, to: &bytes) }
    }

    /// An operation earlier than the one before it gets that one's time. Data too long for a line becomes several lines
    /// with one time. An operation of a device that is not in the header is not written.
    public mutating func write(_ operation: TraceOperation, to bytes: inout [UInt8]) {
        switch operation.subject {
        case .device(let place, let kind):
            guard header.devices.indices.contains(place) else { return }
            for part in kind.parts {
                begin(operation.offset, to: &bytes)
                bytes.append(contentsOf: " \(header.devices[place].number) ".utf8)
                write(part, to: &bytes)
                bytes.append(UInt8(ascii: "\n"))
            }
        case .machine, .handler:
            begin(operation.offset, to: &bytes)
            bytes.append(contentsOf: " \(operation.subject.deed ?? "")\n".utf8)
        }
    }

    /// The words between the time and the digits of a line of data, made once for many lines.
    package func label(of place: Int, _ channel: Channel) -> [UInt8] {
        Array(" \(header.devices[place].number) data \(channel.wireName.text)".utf8)
    }

    /// The same line as ``write(_:to:)`` of the data makes, without an operation.
    package mutating func writeData(
        _ label: [UInt8], _ payload: ArraySlice<UInt8>, at offset: TimeSpan, to bytes: inout [UInt8]
    ) {
        var rest = payload
        repeat {
            let part = rest.prefix(TraceLimit.payloadBytes)
            begin(offset, to: &bytes)
            bytes.append(contentsOf: label)
            if !part.isEmpty { bytes.append(UInt8(ascii: " ")) }
            bytes.appendDigits(of: part)
            bytes.append(UInt8(ascii: "\n"))
            rest = rest.dropFirst(part.count)
        } while !rest.isEmpty
    }

    /// A sentence for people, which the reader skips. Characters that would end the line become spaces.
    public func writeComment(_ sentence: String, to bytes: inout [UInt8]) {
        let text = sentence.utf8.prefix(TraceLimit.payloadBytes).map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }
        bytes.append(contentsOf: "# ".utf8 + text + [UInt8(ascii: "\n")])
    }

    /// The last line; a trace without it reads as cut.
    public func writeEnd(to bytes: inout [UInt8]) { bytes.append(contentsOf: "end\n".utf8) }

    private mutating func begin(_ wanted: TimeSpan, to bytes: inout [UInt8]) {
        let time = max(wanted, offset)
        bytes.append(UInt8(ascii: "+"))
        bytes.appendSeconds(time - offset)
        offset = time
    }

    private func write(_ kind: DeviceEvent.Kind, to bytes: inout [UInt8]) {
        switch kind {
        case .connected(let folded):
            bytes.append(contentsOf: "connect".utf8)
            writeFolded(folded, to: &bytes)
        case .disconnected(let reason, let folded):
            bytes.append(contentsOf: "disconnect reason=".utf8)
            bytes.appendValue(reason)
            writeFolded(folded, to: &bytes)
        case .data(let channel, let payload):
            bytes.append(contentsOf: "data \(channel.wireName.text)".utf8)
            if !payload.isEmpty { bytes.append(UInt8(ascii: " ")) }
            bytes.appendHexadecimal(payload)
        case .gap(let gap): write(gap, to: &bytes)
        case .attention(let attention, let detail):
            bytes.append(contentsOf: "attention \(attention.rawValue) ".utf8)
            bytes.appendQuoted(detail)
        // An occasion has no device: it follows from the actions of the machine and the handlers.
        case .occasion: break
        }
    }

    private func writeFolded(_ folded: UInt32, to bytes: inout [UInt8]) {
        if folded > 0 { bytes.append(contentsOf: " folded=\(folded)".utf8) }
    }

    /// The journal's numbers are not written: they have no meaning in another journal.
    private func write(_ gap: Gap, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "gap \(gap.cause.rawValue)".utf8)
        if let count = gap.count { bytes.append(contentsOf: " count=\(count)".utf8) }
        let (length, overflow) = gap.to.microseconds.subtractingReportingOverflow(gap.from.microseconds)
        guard !overflow, length > 0 else { return }
        bytes.append(contentsOf: " for=".utf8)
        bytes.appendSeconds(min(.microseconds(length), TraceLimit.span))
    }

    private func write(_ device: TraceDevice, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "device \(device.number) \(device.kind.traceWord) ".utf8)
        bytes.appendValue(device.address)
        for (key, text) in [("alias", device.alias), ("name", device.name)] {
            guard let text else { continue }
            bytes.append(contentsOf: " \(key)=".utf8)
            bytes.appendQuoted(text)
        }
        for service in device.services { bytes.append(contentsOf: " service=\(service)".utf8) }
        for property in device.properties {
            bytes.append(contentsOf: " property.\(property.key)=".utf8)
            bytes.appendQuoted(property.value)
        }
        let facts = [("advertisement", device.advertisement), ("report_descriptor", device.reportDescriptor)]
        for (key, value) in facts where !value.isEmpty {
            bytes.append(contentsOf: " \(key)=\(value.hexadecimal)".utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}

// Operations without a device.
extension [UInt8] {
    mutating func append(_ change: MachineOperation) {
        append(contentsOf: "machine ".utf8)
        switch change {
        case .condition(let word, let isTrue):
            append(contentsOf: "condition ".utf8)
            appendValue(word)
            append(contentsOf: isTrue ? " on".utf8 : " off".utf8)
        case .clock(let step):
            append(contentsOf: step < .zero ? "clock -".utf8 : "clock +".utf8)
            appendSeconds(Swift.min(step < .zero ? .zero - step : step, TraceLimit.step))
        case .synchronized(let isTrue): append(contentsOf: "synchronized \(isTrue ? "on" : "off")".utf8)
        case .zone(let name): append(contentsOf: "zone \(name)".utf8)
        case .sleep(let span):
            append(contentsOf: "sleep ".utf8)
            appendSeconds(Swift.min(span, TraceLimit.span))
        case .restart: append(contentsOf: "restart".utf8)
        case .reboot(let span):
            append(contentsOf: "reboot ".utf8)
            appendSeconds(Swift.min(span, TraceLimit.span))
        }
    }

    mutating func append(_ deed: HandlerOperation, of name: String) {
        append(contentsOf: "handler ".utf8)
        appendValue(name)
        switch deed {
        case .manifest(let object): append("manifest", object)
        case .remove: append(contentsOf: " remove".utf8)
        case .say(let line): append("say", line)
        case .message(let object): append("message", object)
        case .transfer(let name, let end):
            append(contentsOf: " transfer ".utf8)
            appendValue(name)
            append(end)
        case .readable(let socket, let bytes):
            append(contentsOf: " readable ".utf8)
            appendValue(socket)
            append(contentsOf: " \(bytes)".utf8)
        case .central(let address, let deed): append(contentsOf: " central \(address) \(deed.words)".utf8)
        case .attach: append(contentsOf: " attach".utf8)
        case .detach: append(contentsOf: " detach".utf8)
        case .stop: append(contentsOf: " stop".utf8)
        case .start: append(contentsOf: " start".utf8)
        }
    }

    private mutating func append(_ end: TracedTransfer) {
        switch end {
        case .done(let bytes): append(contentsOf: bytes == 0 ? " done".utf8 : " done \(bytes)".utf8)
        case .failed(let word):
            append(contentsOf: " failed ".utf8)
            appendValue(word)
        case .challenged: append(contentsOf: " challenged".utf8)
        }
    }

    private mutating func append(_ word: String, _ object: String) {
        append(contentsOf: " \(word) ".utf8)
        append(contentsOf: object.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 })
    }
}

extension DeviceEvent.Kind {
    /// Data in pieces that fit into a line; anything else as it is.
    fileprivate var parts: [DeviceEvent.Kind] {
        // A replay raises the agenda's events again, by its handlers' orders.
        if case .occasion = self { return [] }
        guard case .data(let channel, let payload) = self, payload.count > TraceLimit.payloadBytes else {
            return [self]
        }
        return stride(from: 0, to: payload.count, by: TraceLimit.payloadBytes).map { first in
            .data(channel, Array(payload[first..<min(payload.count, first + TraceLimit.payloadBytes)]))
        }
    }
}

extension [UInt8] {
    /// Six digits after the point; nine where the time is no whole number of microseconds.
    fileprivate mutating func appendSeconds(_ span: TimeSpan) {
        let (seconds, fraction) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if seconds < 10 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: seconds))
        } else {
            append(contentsOf: "\(seconds)".utf8)
        }
        append(UInt8(ascii: "."))
        let (micros, nanos) = fraction.quotientAndRemainder(dividingBy: 1000)
        appendDecimals(UInt32(truncatingIfNeeded: micros), count: 6)
        if nanos > 0 { appendDecimals(UInt32(truncatingIfNeeded: nanos), count: 3) }
    }

    private mutating func appendDecimals(_ number: UInt32, count digits: Int) {
        var (rest, place) = (number, count + digits)
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
        while rest > 0 {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Two digits a byte, set in place: a capture of an hour has millions.
    fileprivate mutating func appendDigits(of payload: ArraySlice<UInt8>) {
        var place = count
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: payload.count * 2))
        for byte in payload {
            self[place] = Self.digit(byte >> 4)
            self[place + 1] = Self.digit(byte & 15)
            place += 2
        }
    }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// A bare word where that reads back the same, quoted otherwise.
    fileprivate mutating func appendValue(_ text: String) {
        let isBare = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
        guard isBare else { return appendQuoted(text) }
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func appendQuoted(_ text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(contentsOf: [UInt8(ascii: "\\"), byte])
            case UInt8(ascii: "\n"): append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case UInt8(ascii: "\t"): append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case 0..<0x20, 0x7f:
                append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "x")])
                appendHexadecimal(CollectionOfOne(byte))
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}

extension CentralDeed {
    fileprivate var words: String {
        switch self {
        case .written(let uuid, let bytes): bytes.isEmpty ? "written \(uuid)" : "written \(uuid) \(bytes.hexadecimal)"
        case .read(let uuid): "read \(uuid)"
        case .subscribed(let uuid): "subscribed \(uuid)"
        case .unsubscribed(let uuid): "unsubscribed \(uuid)"
        }
    }
}
