// The abilities of an input device, and udev's names for them, by which profiles know it.
import WakeModel
import WakeTrace

struct InputAbilities {
    private static let (key, relative, absolute): (UInt16, UInt16, UInt16) = (1, 2, 3)

    /// By type of events.
    private var codes: [UInt16: Set<UInt16>] = [:]
    /// How many bits of each type were described.
    private var described: [UInt16: UInt16] = [:]
    private var names: Set<String> = []

    init() {}

    /// Bits of one type, the lowest first; further ones of the same type go on behind them.
    mutating func describe(_ type: UInt16, _ bytes: [UInt8]) {
        for byte in bytes {
            let first = described[type, default: 0]
            guard first < 1_024 else { return }
            for bit in 0..<8 where byte >> bit & 1 == 1 { codes[type, default: []].insert(first + UInt16(bit)) }
            described[type] = first + 8
        }
    }

    /// A recording without a description shows by its events which device sent them.
    mutating func see(_ type: UInt16, _ code: UInt16) {
        guard described.isEmpty, type > 0 else { return }
        codes[type, default: []].insert(code)
    }

    mutating func add(name: String) { names.insert(name) }

    /// As udev has them, in the order of their names.
    var properties: [(key: String, value: String)] {
        let found = [("JOYSTICK", isJoystick), ("KEYBOARD", isKeyboard), ("MOUSE", isMouse), ("TABLET", isTablet)]
        return found.filter { $0.1 || names.contains($0.0) }.map { ("ID_INPUT_\($0.0)", "1") }
    }

    private var keys: Set<UInt16> { codes[Self.key] ?? [] }

    /// Escape to D, all of them. Where only events are known, one of the keys that type.
    private var isKeyboard: Bool {
        described.isEmpty ? keys.contains { (1..<84).contains($0) } : (1...31).allSatisfy(keys.contains)
    }

    private var isMouse: Bool { (codes[Self.relative] ?? []).isSuperset(of: [0, 1]) && keys.contains(0x110) }

    private var isTablet: Bool {
        (codes[Self.absolute] ?? []).isSuperset(of: [0, 1]) && !keys.isDisjoint(with: [0x140, 0x14b])
    }

    private var isJoystick: Bool { !isTablet && keys.contains { (0x120..<0x140).contains($0) } }
}

extension TraceDevice {
    /// Adds properties, in the order of their names.
    mutating func add(_ more: [(key: String, value: String)]) {
        let known = properties.filter { known in !more.contains { $0.key == known.key } }
        properties = (known + more).sorted { $0.key < $1.key }
    }
}
