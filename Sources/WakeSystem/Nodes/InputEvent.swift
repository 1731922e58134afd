// One event of an input device, as evdev reports it.
import WakeModel

public struct InputEvent: Hashable, Sendable {
    public var type: UInt16
    public var code: UInt16
    public var value: Int32
    /// The kernel's time of the event, on CLOCK_MONOTONIC.
    public var time: Instant

    public init(type: UInt16, code: UInt16, value: Int32, time: Instant) {
        self.type = type
        self.code = code
        self.value = value
        self.time = time
    }

    /// Ends a group of simultaneous events.
    public var isReport: Bool { type == InputType.synchronization && code == 0 }
    /// The reader was too slow, and events are lost.
    public var isDropped: Bool { type == InputType.synchronization && code == 3 }
}

/// Types of events, by the kernel's numbers.
public enum InputType {
    public static let synchronization: UInt16 = 0
    public static let key: UInt16 = 1
    public static let absolute: UInt16 = 3
    public static let `switch`: UInt16 = 5
    public static let led: UInt16 = 17
}

extension InputEvent {
    /// The kernel's struct on 64-bit machines: two words of time, then the fields of `bytes`.
    static let kernelSize = 24

    /// Removes and returns the whole events at the front of `bytes`; part of an event stays.
    static func removeEvents(from bytes: inout [UInt8]) -> [InputEvent] {
        let count = bytes.count / kernelSize
        let events = (0..<count).map { InputEvent(kernel: bytes[($0 * kernelSize)..<(($0 + 1) * kernelSize)]) }
        bytes.removeFirst(count * kernelSize)
        return events
    }

    private init(kernel bytes: ArraySlice<UInt8>) {
        func word(_ offset: Int, _ size: Int) -> UInt64 { bytes.littleEndian(at: offset, size: size) }
        let time = TimeSpan.seconds(Int64(bitPattern: word(0, 8))) + .microseconds(Int64(bitPattern: word(8, 8)))
        self.init(
            type: UInt16(word(16, 2)), code: UInt16(word(18, 2)), value: Int32(truncatingIfNeeded: word(20, 4)),
            time: .zero + time)
    }

    /// The form that the kernel accepts; it ignores the time.
    var kernelBytes: [UInt8] { [UInt8](repeating: 0, count: 16) + bytes }

    /// Type, code and value in 8 bytes, each little-endian.
    public var bytes: [UInt8] {
        let number = UInt32(bitPattern: value)
        return [UInt8(type & 255), UInt8(type >> 8), UInt8(code & 255), UInt8(code >> 8)]
            + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

extension ArraySlice<UInt8> {
    /// A number of the kernel, `offset` bytes after the start, in the machine's byte order.
    func littleEndian(at offset: Int, size: Int) -> UInt64 {
        dropFirst(offset).prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
