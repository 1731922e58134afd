// How an input device stands: what is down, on and lit, where its axes are; and the events that lead from one standing to another.
import WakeModel

public struct InputState: Hashable, Sendable {
    public var keys: Set<UInt16> = []
    public var switches: Set<UInt16> = []
    public var leds: Set<UInt16> = []
    /// Axes by code, the number of the slot that is being told among them, the values of slots not.
    public var axes: [UInt16: Int32] = [:]
    /// By multitouch code, what each slot has; empty for devices without slots.
    public var slots: [UInt16: [Int32]] = [:]

    public init() {}

    static let slotAxis: UInt16 = 0x2f
    /// ABS_MT_TOUCH_MAJOR to ABS_MT_TOOL_Y.
    static let slotCodes: ClosedRange<UInt16> = 0x30...0x3d
    private static let contact: UInt16 = 0x39

    /// Takes in what an event tells; events that leave nothing standing, such as a mouse's movement, change nothing.
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
        // Without slots the code is told once for each contact, and nothing of it stands.
        let slot = Int(axes[Self.slotAxis] ?? 0)
        guard let count = slots[event.code]?.count, 0..<count ~= slot else { return }
        slots[event.code]?[slot] = event.value
    }

    /// The events, all of one time, by which one who knew `known` comes to know this.
    public func events(from known: InputState, at time: Instant) -> [InputEvent] {
        var told: [InputEvent] = []
        func tell(_ type: UInt16, _ code: UInt16, _ value: Int32) {
            told.append(InputEvent(type: type, code: code, value: value, time: time))
        }
        let sets = [
            (InputType.key, known.keys, keys), (InputType.switch, known.switches, switches),
            (InputType.led, known.leds, leds),
        ]
        for (type, before, now) in sets {
            for code in before.subtracting(now).sorted() { tell(type, code, 0) }
            for code in now.subtracting(before).sorted() { tell(type, code, 1) }
        }
        for (code, value) in axes.sorted(by: { $0.key < $1.key })
        where code != Self.slotAxis && known.axes[code] != value { tell(InputType.absolute, code, value) }
        tellSlots(from: known) { tell(InputType.absolute, $0, $1) }
        return told
    }

    /// Each slot's number before what is new in it, and the number of the slot that the device goes on with at the end.
    private func tellSlots(from known: InputState, _ tell: (UInt16, Int32) -> Void) {
        var told = known.axes[Self.slotAxis]
        let codes = slots.keys.sorted { ($0 == Self.contact ? 0 : $0) < ($1 == Self.contact ? 0 : $1) }
        for slot in 0..<(slots.values.map(\.count).max() ?? 0) {
            for code in codes {
                guard let now = slots[code]?.at(slot), now != known.slots[code]?.at(slot) else { continue }
                if told != Int32(slot) { tell(Self.slotAxis, Int32(slot)) }
                told = Int32(slot)
                tell(code, now)
            }
        }
        if let current = axes[Self.slotAxis], current != told { tell(Self.slotAxis, current) }
    }
}

extension [Int32] {
    fileprivate func at(_ index: Int) -> Int32? { indices.contains(index) ? self[index] : nil }
}
