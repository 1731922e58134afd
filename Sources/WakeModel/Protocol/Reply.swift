// The replies that a handler may write to descriptor 3, as values.

public enum Reply: Hashable, Sendable {
    /// How the handler judges the work it acknowledges; for statistics only.
    public enum Result: String, Hashable, Sendable, CaseIterable { case useful, nothing, failed }

    /// Acknowledges everything delivered to this process up to and including this event.
    case ack(Sequence, result: Result?)
    /// The event cannot be handled now. Nil leaves the wait to the bridge's back-off; otherwise 0 to 86,400 s.
    case nack(Sequence, after: TimeSpan?)
    /// The occasion cannot be handled before these conditions are true.
    case handBack(Sequence, until: [String])
    /// How far the work of an occasion has come; `total` is for people.
    case progress(Sequence, done: Int64, total: Int64?)
    /// For the agenda.
    case order(HandlerOrder)
    case ready
    /// Opens an extension task; the name is 1 to 128 bytes.
    case begin(String)
    case end(String)
    case remaining
    case write(DeviceAddress, bytes: [UInt8])
    case read(DeviceAddress)
    /// Up to 16 KiB of UTF-8.
    case checkpoint(String)
}

/// The device, and the place in it, that a request goes to.
public struct DeviceAddress: Hashable, Sendable {
    /// An alias or a device URI, as the handler wrote it.
    public var device: String
    /// Nil for the device's only stream.
    public var channel: Channel?

    public init(device: String, channel: Channel?) {
        self.device = device
        self.channel = channel
    }
}

/// A request's reference, any JSON scalar, which the answer returns exactly as it was written.
public struct Reference: Hashable, Sendable {
    /// JSON text of at most 256 bytes.
    public let text: String

    init(text: String) { self.text = text }
    public init(_ number: Int64) { text = String(number) }
}

/// A parsed line of descriptor 3.
public struct ReplyLine: Hashable, Sendable {
    public var reply: Reply
    public var reference: Reference?

    public init(_ reply: Reply, reference: Reference? = nil) {
        self.reply = reply
        self.reference = reference
    }

    /// The longest line in bytes, without its newline.
    public static let lengthLimit = 128 << 10
    /// The longest text of a checkpoint, in bytes of UTF-8.
    public static let checkpointLimit = 16 << 10
    /// The longest name of a task, in bytes of UTF-8.
    public static let taskNameLimit = 128
    /// The longest `ref` in bytes, as written. Notices repeat it, and only a small part of the pipe is kept for notices.
    public static let referenceLimit = 256
    /// The longest value of a characteristic in bytes (Core Specification, Vol 3, Part F, 3.2.9).
    public static let characteristicLimit = 512
    public static let longestWait = TimeSpan.seconds(86_400)
    /// The most conditions that a `nack` may wait for.
    public static let mostConditions = 16
}

extension ReplyLine {
    /// Writes the line with its newline, as a handler would: the same text that ``parse(_:)`` reads.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject()
        switch reply {
        case .ack(let sequence, let result):
            writer.field("ack", sequence.rawValue)
            if let result { writer.field("result", result.rawValue) }
        case .nack(let sequence, let after):
            writer.field("nack", sequence.rawValue)
            if let after {
                writer.key("after_s")
                writer.number(after.seconds)
            }
        case .handBack(let sequence, let until):
            writer.field("nack", sequence.rawValue)
            writer.field("until", until)
        case .progress(let sequence, let done, let total):
            writer.field("progress", sequence.rawValue)
            writer.field("done", done)
            if let total { writer.field("total", total) }
        case .order(let order):
            writer.key(named: order.verb.rawValue)
            writer.value(order.value)
        case .ready: writer.field("ready", true)
        case .begin(let name): writer.field("begin", name)
        case .end(let name): writer.field("end", name)
        case .remaining: writer.field("remaining", true)
        case .write(let address, let bytes):
            writer.key("write")
            address.write(bytes: bytes, into: &writer)
        case .read(let address):
            writer.key("read")
            address.write(bytes: nil, into: &writer)
        case .checkpoint(let text): writer.field("checkpoint", text)
        }
        if let reference {
            writer.key("ref")
            writer.fragment(reference.text.utf8)
        }
        writer.endObject()
        writer.newline()
    }
}

extension DeviceAddress {
    fileprivate func write(bytes: [UInt8]?, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("device", device)
        if let channel {
            let (field, text) = channel.wireName
            writer.field(field, text)
        }
        if let bytes {
            writer.key("hex")
            writer.hexadecimal(bytes)
        }
        writer.endObject()
    }
}
