// An operation of a trace: the action of a device, the machine or a handler, and its time.
import WakeModel

public struct TraceOperation: Hashable, Sendable {
    public enum Subject: Hashable, Sendable {
        /// The index of the device in the header's list, not the device's number.
        case device(Int, DeviceEvent.Kind)
        /// Rare, so it is stored apart: copies of devices' operations stay small.
        indirect case machine(MachineOperation)
        /// The handler by its name.
        indirect case handler(String, HandlerOperation)
    }

    /// The line that it was read from; 0 if it was not read from a trace.
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

    /// A device's action; nil for another's.
    public var kind: DeviceEvent.Kind? { if case .device(_, let kind) = subject { kind } else { nil } }
}

/// A change of the machine.
public enum MachineOperation: Hashable, Sendable {
    /// By its word: `power`, `mount:/data`.
    case condition(String, isTrue: Bool)
    /// The wall clock is set by this span, forward or back.
    case clock(TimeSpan)
    /// Whether the wall clock is known to be right.
    case synchronized(Bool)
    /// By its name in the zone database: `Europe/Berlin`.
    case zone(String)
    /// It sleeps for this span.
    case sleep(TimeSpan)
    /// The bridge ends and starts again.
    case restart
    /// It is off for this span, and starts again.
    case reboot(TimeSpan)
}

/// An action of a handler, or of an operator on it.
public enum HandlerOperation: Hashable, Sendable {
    /// Its manifest is there, or is another one from here on: one JSON object.
    case manifest(String)
    /// Its manifest is taken away.
    case remove
    /// It writes the line to descriptor 3: one JSON object.
    case say(String)
    /// A message to it arrives: one JSON object.
    case message(String)
    /// A transfer of it has ended, or needs a credential: by its name, `photos/17`.
    case transfer(String, TracedTransfer)
    /// The number of bytes that wait unread in the socket of this name.
    case readable(String, bytes: Int64)
    /// A central uses its peripheral: by the central's address.
    case central(String, CentralDeed)
    case attach, detach, stop, start
}

/// The deed of a central with a characteristic of a handler's peripheral.
public enum CentralDeed: Hashable, Sendable {
    case written(BluetoothUUID, [UInt8])
    case read(BluetoothUUID)
    case subscribed(BluetoothUUID)
    case unsubscribed(BluetoothUUID)
}

/// The end or a request of a transfer.
public enum TracedTransfer: Hashable, Sendable {
    /// All of its bytes have come, or were sent: this many.
    case done(bytes: Int64)
    /// For a reason by its word: `checksum`.
    case failed(String)
    /// The server requires a credential.
    case challenged
}

extension TraceOperation.Subject {
    /// Reads the words behind the time of a line without a device: `machine sleep 60`, or `handler hr attach`.
    public init(deed text: String) throws(TraceError) {
        let bytes = Array(text.utf8)
        var line = TraceLine(bytes: bytes, start: 0, end: bytes.count, number: 1)
        guard let deed = try line.deed() else { throw line.error("`machine` or `handler` is expected here") }
        self = deed
    }

    /// The same text; nil for a device's action.
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
