// Input events out of the kernel's bytes, and how a device stands between them.
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("An input event") struct InputEventTests {
    @Test("is read from the kernel's 24 bytes, and only whole")
    func reads() {
        var bytes: [UInt8] = [
            2, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0, 3, 0, 0x35, 0, 0xfe, 0xff, 0xff, 0xff,
        ]
        bytes += [1, 2, 3]
        let events = InputEvent.removeEvents(from: &bytes)
        #expect(events == [InputEvent(type: 3, code: 0x35, value: -2, time: Instant(nanoseconds: 3_000_000_000))])
        #expect(bytes == [1, 2, 3])
        #expect(events[0].bytes == [3, 0, 0x35, 0, 0xfe, 0xff, 0xff, 0xff])
        #expect(Array(events[0].kernelBytes.suffix(8)) == events[0].bytes && events[0].kernelBytes.count == 24)
    }

    @Test("of any bytes in any portions comes out the same, and none stops the bridge")
    func fuzz() {
        var dice = Dice(9)
        for _ in 0..<200 {
            let bytes = (0..<dice.below(400)).map { _ in UInt8(dice.below(256)) }
            var (whole, rest, events) = (bytes, [UInt8](), [InputEvent]())
            var place = 0
            while place < bytes.count {
                let end = min(place + 1 + dice.below(50), bytes.count)
                rest += bytes[place..<end]
                events += InputEvent.removeEvents(from: &rest)
                place = end
            }
            #expect(
                InputEvent.removeEvents(from: &whole) == events && whole == rest && events.count == bytes.count / 24)
        }
    }
}

@Suite("An input device's standing") struct InputStateTests {
    private func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> InputEvent {
        InputEvent(type: type, code: code, value: value, time: .zero)
    }

    @Test("follows keys, switches, lights and axes, and not what leaves nothing standing")
    func follows() {
        var state = InputState()
        for event in [
            event(1, 30, 1), event(1, 30, 2), event(1, 31, 1), event(1, 31, 0), event(5, 2, 1), event(17, 0, 1),
            event(3, 0, 77), event(2, 0, 5), event(0, 2, 0), event(3, 0x35, 9), event(4, 4, 30),
        ] { state.apply(event) }
        #expect(state.keys == [30] && state.switches == [2] && state.leds == [0] && state.axes == [0: 77])
        #expect(state.slots.isEmpty)
    }

    @Test("is reached from another by the fewest events: what is released first, contacts by their slots")
    func differs() {
        var (known, now) = (InputState(), InputState())
        (known.keys, now.keys) = ([1, 2], [2, 3])
        (known.leds, now.switches) = ([4], [5])
        (known.axes, now.axes) = ([0: 1, 1: 1, 0x2f: 0], [0: 1, 1: 2, 0x2f: 2])
        (known.slots, now.slots) = ([0x35: [1, 2, 3], 0x39: [-1, 7, 8]], [0x35: [1, 9, 3], 0x39: [-1, 10, -1]])
        let told = now.events(from: known, at: .zero)
        let wanted = [
            event(1, 1, 0), event(1, 3, 1), event(5, 5, 1), event(17, 4, 0), event(3, 1, 2), event(3, 0x2f, 1),
            event(3, 0x39, 10), event(3, 0x35, 9), event(3, 0x2f, 2), event(3, 0x39, -1),
        ]
        #expect(told == wanted)
        for event in told { known.apply(event) }
        #expect(known == now && now.events(from: known, at: .zero).isEmpty)
    }

    @Test("ignores a slot that the device does not have")
    func ignoresForeignSlots() {
        var state = InputState()
        state.slots = [0x35: [0, 0]]
        for slot in [-1, 2, Int32.max, Int32.min] {
            state.apply(event(3, 0x2f, slot))
            state.apply(event(3, 0x35, 5))
        }
        #expect(state.slots == [0x35: [0, 0]])
    }
}
