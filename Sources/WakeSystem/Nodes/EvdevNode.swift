// Reads an input device's events by evdev, with the kernel's times, and its state where events were lost.
import CLinux
import Glibc
import WakeModel

/// An open evdev node. While it is grabbed, no other program gets the device's events, not even the console and the
/// desktop; a key that is held at that moment stays held for them.
public struct EvdevNode: ~Copyable, Sendable {
    public let path: String
    private let descriptor: FileDescriptor
    private let isExclusive: Bool
    /// Whether the kernel stamps events with CLOCK_MONOTONIC; where it cannot, an event's time is when it was read.
    private let hasKernelTime: Bool

    /// The descriptor that the loop watches.
    public var raw: Int32 { descriptor.raw }

    /// EBUSY where another program has grabbed it.
    public init(opening path: String, isExclusive: Bool) throws(SystemError) {
        let opened = try FileDescriptor.openNode(path)
        _ = try Self.codes(0, of: opened, path)
        // Setting the clock drops waiting events and reports a loss, so it comes before the first read.
        let isStamped = clinux_evdev_set_clock(opened.raw, CLOCK_MONOTONIC) >= 0
        if isExclusive { try Self.grab(opened, path) }
        self.path = path
        self.isExclusive = isExclusive
        hasKernelTime = isStamped
        descriptor = opened
    }

    private static func grab(_ descriptor: borrowing FileDescriptor, _ path: String) throws(SystemError) {
        let number = descriptor.raw
        switch attemptC({ clinux_evdev_grab(number, true) }) {
        case .value: return
        case .failure(.busy): throw SystemError.inUse(path)
        case .failure(let errno): throw SystemError("take for itself", path, errno)
        }
    }

    /// Ungrabs before closing, because a child that started frozen keeps a copy of the descriptor until it is thawed.
    /// Other programs must not wait for that.
    deinit { if isExclusive { _ = clinux_evdev_grab(descriptor.raw, false) } }

    /// Some events in order; a report may be spread over several reads.
    /// - Parameter rest: part of an event, where a read ends within one; reads from the kernel never do.
    public borrowing func read(after rest: inout [UInt8]) throws(SystemError) -> NodeReading<[InputEvent]> {
        switch try descriptor.readNode(path, limit: 64 * InputEvent.kernelSize) {
        case .content(let bytes):
            rest += bytes
            let events = InputEvent.removeEvents(from: &rest)
            return .content(hasKernelTime ? events : Self.stamped(events))
        case .wouldBlock: return .wouldBlock
        case .closed: return .closed
        }
    }

    /// Sends events to the device, such as lights; the caller must end a report. Perhaps only some are written: `.wrote`
    /// counts events.
    public borrowing func write(_ events: [InputEvent]) throws(SystemError) -> WriteResult {
        switch try descriptor.writeNode(events.flatMap(\.kernelBytes)[...], path) {
        case .wrote(let count): .wrote(count / InputEvent.kernelSize)
        case .wouldBlock: .wouldBlock
        case .closed: .closed
        }
    }

    /// The device's current state. Asking drops waiting events of keys, switches and lights, because the state is newer;
    /// waiting events of axes stay, and end in this state.
    public borrowing func state() throws(SystemError) -> InputState {
        var state = InputState()
        let types = try Self.codes(0, of: descriptor, path)
        if types.contains(InputType.key) { state.keys = try standing(InputType.key) }
        if types.contains(InputType.switch) { state.switches = try standing(InputType.switch) }
        if types.contains(InputType.led) { state.leds = try standing(InputType.led) }
        if types.contains(InputType.absolute) { try readAxes(into: &state) }
        return state
    }

    private static func stamped(_ events: [InputEvent]) -> [InputEvent] {
        let now = SystemClock.monotonic()
        return events.map { InputEvent(type: $0.type, code: $0.code, value: $0.value, time: now) }
    }
}

extension EvdevNode {
    /// Room for all 768 possible keys.
    private static let bitBytes = 96
    private static let slotLimit: Int32 = 64

    private static func codes(
        _ type: UInt16, of descriptor: borrowing FileDescriptor, _ path: String
    ) throws(SystemError) -> [UInt16] {
        var bits = [UInt8](repeating: 0, count: bitBytes)
        let number = descriptor.raw
        switch attemptC({ clinux_evdev_codes(number, Int32(type), &bits, bitBytes) }) {
        case .value: return codes(bits)
        case .failure(let errno) where type == 0 && [ENOTTY, EINVAL].contains(errno.code):
            throw SystemError("open", path, errno, advice: "it is no evdev node")
        case .failure(let errno): throw SystemError("ask the abilities of", path, errno)
        }
    }

    private static func codes(_ bits: [UInt8]) -> [UInt16] {
        (0..<UInt16(bits.count * 8)).filter { bits[Int($0 >> 3)] >> ($0 & 7) & 1 == 1 }
    }

    private borrowing func standing(_ type: UInt16) throws(SystemError) -> Set<UInt16> {
        var bits = [UInt8](repeating: 0, count: Self.bitBytes)
        let number = raw
        let answer = attemptC { clinux_evdev_standing(number, Int32(type), &bits, Self.bitBytes) }
        _ = try answer.get("ask the state of", path)
        return Set(Self.codes(bits))
    }

    private borrowing func readAxes(into state: inout InputState) throws(SystemError) {
        let codes = try Self.codes(InputType.absolute, of: descriptor, path)
        let slotCount = codes.contains(InputState.slotAxis) ? try axis(InputState.slotAxis).maximum : -1
        for code in codes {
            guard InputState.slotCodes.contains(code) else {
                state.axes[code] = try axis(code).value
                continue
            }
            guard slotCount >= 0 else { continue }
            state.slots[code] = try slots(code, count: Int(min(slotCount, Self.slotLimit - 1)) + 1)
        }
    }

    private borrowing func axis(_ code: UInt16) throws(SystemError) -> (value: Int32, maximum: Int32) {
        var (value, maximum): (Int32, Int32) = (0, 0)
        let number = raw
        let answer = attemptC { clinux_evdev_axis(number, Int32(code), &value, &maximum) }
        _ = try answer.get("ask the axes of", path)
        return (value, maximum)
    }

    private borrowing func slots(_ code: UInt16, count: Int) throws(SystemError) -> [Int32] {
        var values = [Int32](repeating: 0, count: count)
        let number = raw
        let answer = attemptC { clinux_evdev_slots(number, Int32(code), &values, count) }
        _ = try answer.get("ask the contacts of", path)
        return values
    }
}
