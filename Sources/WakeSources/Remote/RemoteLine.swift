// Reads a line of another bridge's stream, from bytes that any client may have published.
import WakeModel

/// Why a line counts as one that never came, as the end of a sentence.
package struct RemoteLineFault: Error, Hashable {
    var reason: String
}

package struct RemoteLine: Hashable {
    /// An event of a device of the other bridge.
    struct Event: Hashable {
        /// As that bridge names it: `/bluetooth/C0:F1:F2:F3:F4:01`.
        var source: String
        /// Its alias there.
        var subject: String
        /// Nil if the line names none.
        var profile: String?
        var isAuthenticated: Bool
        var kind: DeviceEvent.Kind
        var heard = HeardValue.none
        var isClockSynchronized: Bool
    }

    enum Content: Hashable {
        case event(Event)
        /// Numbers that were never published, of any device.
        case gap(GapCause, since: WallTime)
        /// It has a number and is about no device.
        case other
    }

    /// Names the count that the numbers belong to.
    var life: String
    /// The numbers that it covers: an event its own, a gap all that were lost.
    var numbers: ClosedRange<UInt64>
    /// It may have been published before.
    var isAgain: Bool
    /// Nil if it has none.
    var time: WallTime?
    var content: Content

    /// Larger than any that a bridge writes.
    static let longest = RemoteNews.longestLine
    /// The longest name, reason or detail, in bytes.
    static let longestText = 512

    /// Whether a bridge may use this name for a device.
    static func isSource(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= longestText && !text.unicodeScalars.contains(where: \.isMisleading)
    }
}

extension RemoteLine {
    package init(_ bytes: [UInt8]) throws(RemoteLineFault) {
        guard bytes.count <= Self.longest else { throw RemoteLineFault(reason: "it has \(bytes.count) bytes") }
        // Parts of it go into lines of handlers as they are.
        guard !bytes.contains(where: { $0 < 0x20 }) else {
            throw RemoteLineFault(reason: "it contains a control character")
        }
        let line: JSONValue
        let data: String?
        do throws(JSONValue.Fault) { (line, data) = try JSONValue.parse(bytes, keepingTextOf: "data") } catch {
            throw RemoteLineFault(reason: "it is no JSON, \(error)")
        }
        guard let stream = line["stream"], let life = stream["life"]?.string, Self.isLife(life),
            let number = stream["n"]?.integer.flatMap(Self.number)
        else { throw RemoteLineFault(reason: "its stream has no life or no number") }
        (self.life, numbers, isAgain) = (life, number...number, stream["again"]?.boolean ?? false)
        time = line["time"]?.string.flatMap { WallTime(rfc3339: $0) }
        content = .other
        if let gap = line["gap"] {
            try readGap(gap, upTo: number)
        } else if let type = line["type"]?.string, type.hasPrefix(Self.deviceTypes) {
            let name = type.dropFirst(Self.deviceTypes.count)
            guard let event = try Event(line, String(name), data: data ?? "{}") else { return }
            guard time != nil else { throw RemoteLineFault(reason: "its event has no time") }
            content = .event(event)
        }
    }

    private static let deviceTypes = "wakebridge.device."

    private mutating func readGap(_ gap: JSONValue, upTo number: UInt64) throws(RemoteLineFault) {
        guard let first = gap["from"]?.integer.flatMap(Self.number), let last = gap["until"]?.integer,
            UInt64(exactly: last) == number, first <= number
        else { throw RemoteLineFault(reason: "its gap does not end at its number") }
        guard let since = gap["since"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let until = gap["to"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { throw RemoteLineFault(reason: "its gap does not say from when to when") }
        let cause = gap["cause"]?.string.flatMap(GapCause.init) ?? .overflow
        (numbers, time, content) = (first...number, until, .gap(cause, since: min(since, until)))
    }

    /// Far below what a count could reach.
    private static func number(_ value: Int64) -> UInt64? { (1...1 << 53).contains(value) ? UInt64(value) : nil }

    private static func isLife(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIIWord || $0 == UInt8(ascii: "-") }
    }
}

extension RemoteLine.Event {
    /// Nil for a type that this bridge does not know, and for a device that the other bridge has from a third.
    /// - Parameter data: the member as it was written.
    fileprivate init?(_ line: JSONValue, _ type: String, data text: String) throws(RemoteLineFault) {
        guard let source = line["source"]?.string, RemoteLine.isSource(source) else {
            throw RemoteLineFault(reason: "its event is of no device")
        }
        guard let subject = line["subject"]?.string, (1...RemoteLine.longestText).contains(subject.utf8.count) else {
            throw RemoteLineFault(reason: "its event names no device")
        }
        let data: JSONValue
        let value: String?
        do throws(JSONValue.Fault) {
            (data, value) = try JSONValue.parse(Array(text.utf8), keepingTextOf: "value")
        } catch { throw RemoteLineFault(reason: "its data is no JSON, \(error)") }
        guard !source.hasPrefix(SourceKind.remote.uriPrefix) else { return nil }
        (self.source, self.subject) = (source, subject)
        profile = data["profile"]?.string.flatMap { $0.isPlainName ? $0 : nil }
        isAuthenticated = line["authenticated"]?.boolean ?? false
        isClockSynchronized = data["clock_synced"]?.boolean ?? true
        guard let kind = try Self.kind(type, data) else { return nil }
        self.kind = kind
        if case .data = kind { heard = try Self.heard(data, value) }
    }

    /// Nil for a type that this bridge does not know.
    private static func kind(_ type: String, _ data: JSONValue) throws(RemoteLineFault) -> DeviceEvent.Kind? {
        switch type {
        case "connected": return .connected(folded: folded(data))
        case "disconnected":
            guard let reason = data["reason"]?.string, !reason.isEmpty else {
                throw RemoteLineFault(reason: "its device is disconnected without a reason")
            }
            return .disconnected(reason: reason.plain(toBytes: RemoteLine.longestText), folded: folded(data))
        case "data": return .data(try channel(data), try bytes(data))
        case "gap": return .gap(try gap(data))
        case "attention":
            guard let attention = data["kind"]?.string.flatMap(Attention.init) else {
                throw RemoteLineFault(reason: "its attention is not known")
            }
            let detail = data["detail"]?.string ?? ""
            return .attention(attention, detail: detail.plain(toBytes: RemoteLine.longestText))
        default: return nil
        }
    }

    private static func folded(_ data: JSONValue) -> UInt32 {
        data["folded"]?.integer.flatMap { UInt32(exactly: $0) } ?? 0
    }

    private static func channel(_ data: JSONValue) throws(RemoteLineFault) -> Channel {
        if let fragment = data["fragment"]?.string.flatMap(Fragment.init) { return .fragment(fragment) }
        if let name = data["characteristic"]?.string.flatMap({ CharacteristicName($0) }) {
            return .characteristic(name)
        }
        guard let channel = data["stream"]?.string.flatMap({ Channel(kept: $0) }) else {
            throw RemoteLineFault(reason: "its data comes from no characteristic and no stream")
        }
        return channel
    }

    private static func bytes(_ data: JSONValue) throws(RemoteLineFault) -> [UInt8] {
        guard let bytes = data["raw"]?.string.flatMap({ [UInt8](hexadecimal: $0) }) else {
            throw RemoteLineFault(reason: "its data has no bytes")
        }
        return bytes
    }

    /// Numbers of the other bridge's journal mean nothing here.
    private static func gap(_ data: JSONValue) throws(RemoteLineFault) -> Gap {
        guard let from = data["from"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let to = data["to"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { throw RemoteLineFault(reason: "its gap does not say from when to when") }
        let count = data["count"]?.integer.flatMap { UInt64(exactly: $0) }
        let cause = data["cause"]?.string.flatMap(GapCause.init) ?? .link
        return Gap(cause: cause, count: count, first: nil, last: nil, from: min(from, to), to: to)
    }

    private static func heard(_ data: JSONValue, _ value: String?) throws(RemoteLineFault) -> HeardValue {
        if let fault = data["undecodable"]?.string {
            return HeardValue(.fault, fault.plain(toBytes: RemoteLine.longestText).utf8)
        }
        guard let value else { return HeardValue(.nothing) }
        guard case .object = data["value"] else { throw RemoteLineFault(reason: "its value is no object") }
        return HeardValue(.value, value.utf8)
    }
}

extension UInt8 {
    fileprivate var isASCIIWord: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
