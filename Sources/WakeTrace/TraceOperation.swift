// One operation of a trace: what a device, the machine or a handler did, and when.
import WakeModel

public struct TraceOperation: Hashable, Sendable {
    public enum Subject: Hashable, Sendable {
        /// The index of the device in the header's list, not the device's number.
        case device(Int, DeviceEvent.Kind)
        /// Rare, so it is stored apart: copies of what devices do stay small.
        indirect case machine(MachineOperation)
        /// The handler by its name.
        indirect case handler(String, HandlerOperation)
    }

    /// The line that it was read from; 0 where it was not read from a trace.
    public var line: Int
    /// The time since the header's start that the machine was awake; never less than that of the operation before it.
    public var offset: TimeSpan
    public var subject: Subject

    public init(line: Int = 0, offset: TimeSpan, subject: Subject) {
        self.line = line
        self.offset = offset
        self.subject = subject
    }

    public init(line: Int = 0, offset: TimeSpan, device: Int, kind: DeviceEvent.Kind) {
        self.init(line: line, offset: offset, subject: .device(device, kind))
    }

    /// What a device did; nil where no device did anything.
    public var kind: DeviceEvent.Kind? { if case .device(_, let kind) = subject { kind } else { nil } }
}

/// What happens to the machine.
public enum MachineOperation: Hashable, Sendable {
    /// By its word: `power`, `mount:/data`.
    case condition(String, isTrue: Bool)
    /// The wall clock is set by so much, forward or back.
    case clock(TimeSpan)
    /// Whether the wall clock is known to be right.
    case synchronized(Bool)
    /// By its name in the zone database: `Europe/Berlin`.
    case zone(String)
    /// It sleeps for so long.
    case sleep(TimeSpan)
    /// The bridge ends and starts again.
    case restart
    /// It is off for so long, and starts again.
    case reboot(TimeSpan)
}

/// What a handler does, or an operator does to it.
public enum HandlerOperation: Hashable, Sendable {
    /// Its manifest is there, or is another one from here on: one JSON object.
    case manifest(String)
    /// Its manifest is taken away.
    case remove
    /// It writes the line to descriptor 3: one JSON object.
    case say(String)
    /// Something sends it a message: one JSON object.
    case message(String)
    /// A transfer of it has ended, or is asked for a credential: by its name, `photos/17`.
    case transfer(String, TracedTransfer)
    /// So many bytes wait unread in the socket of this name.
    case readable(String, bytes: Int64)
    case attach, detach, stop, start
}

/// What becomes of a transfer.
public enum TracedTransfer: Hashable, Sendable {
    /// All of its bytes have come, or were sent: so many.
    case done(bytes: Int64)
    /// For a reason by its word: `checksum`.
    case failed(String)
    /// The server asks who wants it.
    case challenged
}

extension TraceOperation.Subject {
    /// Reads what stands behind the time where no device does anything: `machine sleep 60`, or `handler hr attach`.
    public init(deed text: String) throws(TraceError) {
        let bytes = Array(text.utf8)
        var line = TraceLine(bytes: bytes, start: 0, end: bytes.count, number: 1)
        guard let deed = try line.deed() else { throw line.error("`machine` or `handler` stands here") }
        self = deed
    }

    /// The same text; nil for what a device does.
    public var deed: String? {
        var bytes: [UInt8] = []
        switch self {
        case .device: return nil
        case .machine(let change): bytes.append(change)
        case .handler(let name, let deed): bytes.append(deed, of: name)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
