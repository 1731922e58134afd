// The state of an input device: pressed keys, switches, lights and axes; and the events that lead from one state to another.
import WakeModel

public struct InputState: Hashable, Sendable {
    public var keys: Set<UInt16> = []
    public var switches: Set<UInt16> = []
    public var leds: Set<UInt16> = []
    /// Axes by code, with the current slot's number and without the values of slots.
    public var axes: [UInt16: Int32] = [:]
    /// The values of all slots, by multitouch code; empty for devices without slots.
    public var slots: [UInt16: [Int32]] = [:]

    public init() {}

    static let slotAxis: UInt16 = 0x2f
    /// ABS_MT_TOUCH_MAJOR to ABS_MT_TOOL_Y.
    static let slotCodes: ClosedRange<UInt16> = 0x30...0x3d
    private static let contact: UInt16 = 0x39

    /// Applies an event. Events without a lasting state, such as a mouse's movement, change nothing.
    public mutating func apply(_ event: InputEvent) {
        switch event.type {
        case InputType.key: Self.set(event, in: &keys)
        case InputType.switch: Self.set(event, in: &switches)
        case InputType.led: Self.set(event, in: &leds)
        case InputType.absolute: setAxis(event)
        default: break
        }
    }

    private static func set(_ event: InputEvent, in codes: inout Set<UInt16>) {
        if event.value == 0 { codes.remove(event.code) } else { codes.insert(event.code) }
    }

    private mutating func setAxis(_ event: InputEvent) {
        guard Self.slotCodes.contains(event.code) else {
            axes[event.code] = event.value
            return
        }
        // Without slots the code is reported once for each contact, and has no lasting state.
        let slot = Int(axes[Self.slotAxis] ?? 0)
        guard let count = slots[event.code]?.count, 0..<count ~= slot else { return }
        slots[event.code]?[slot] = event.value
    }

    /// The events, all with one time, that lead from the state `known` to this one.
    public func events(from known: InputState, at time: Instant) -> [InputEvent] {
        var events: [InputEvent] = []
        func report(_ type: UInt16, _ code: UInt16, _ value: Int32) {
            events.append(InputEvent(type: type, code: code, value: value, time: time))
        }
        let sets = [
            (InputType.key, known.keys, keys), (InputType.switch, known.switches, switches),
            (InputType.led, known.leds, leds),
        ]
        for (type, before, now) in sets {
            for code in before.subtracting(now).sorted() { report(type, code, 0) }
            for code in now.subtracting(before).sorted() { report(type, code, 1) }
        }
        for (code, value) in axes.sorted(by: { $0.key < $1.key })
        where code != Self.slotAxis && known.axes[code] != value { report(InputType.absolute, code, value) }
        reportSlots(from: known) { report(InputType.absolute, $0, $1) }
        return events
    }

    /// Reports each changed slot's number before its changes and, at the end, the current slot's number.
    private func reportSlots(from known: InputState, _ report: (UInt16, Int32) -> Void) {
        var reported = known.axes[Self.slotAxis]
        let codes = slots.keys.sorted { ($0 == Self.contact ? 0 : $0) < ($1 == Self.contact ? 0 : $1) }
        for slot in 0..<(slots.values.map(\.count).max() ?? 0) {
            for code in codes {
                guard let now = slots[code]?.at(slot), now != known.slots[code]?.at(slot) else { continue }
                if reported != Int32(slot) { report(Self.slotAxis, Int32(slot)) }
                reported = Int32(slot)
                report(code, now)
            }
        }
        if let current = axes[Self.slotAxis], current != reported { report(Self.slotAxis, current) }
    }
}

extension [Int32] {
    fileprivate func at(_ index: Int) -> Int32? { indices.contains(index) ? self[index] : nil }
}

/// An event of an input device, as evdev reports it.
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
