// Traces that are made of a seed: three straps that beat in bursts, go and come back; each beat's bytes stand once only.
import TestBench
import WakeModel

struct GeneratedTrace {
    private(set) var text = "wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n"
    /// What each device's handlers must see, in order: kind and content.
    private(set) var expected: [String: [String]] = [:]
    let count: Int
    private var isUp = [Bool](repeating: false, count: 3)

    static func alias(_ device: Int) -> String { "strap-\(device)" }

    /// `count` events over about `seconds`.
    init(_ count: Int, over seconds: Double, seed: UInt64) {
        self.count = count
        var random = Dice(seed)
        for device in 1...3 {
            text +=
                "device \(device) bluetooth C0:F1:F2:F3:F4:0\(device) alias=\"\(Self.alias(device))\" service=180d\n"
        }
        var wait = 0.0
        var burst = 0
        for index in 0..<count {
            if burst == 0 {
                burst = Int.random(in: 1...60, using: &random)
                wait = Double(burst) * seconds / Double(count)
            }
            burst -= 1
            let microseconds = String(Int(wait * 1e6) % 1_000_000 + 1_000_000).dropFirst()
            text += "+\(Int(wait)).\(microseconds) " + event(index, &random) + "\n"
            wait = 0
        }
        text += "end\n"
    }

    private mutating func event(_ index: Int, _ random: inout Dice) -> String {
        let device = Int.random(in: 1...3, using: &random)
        let isTurning = Int.random(in: 0..<50, using: &random) == 0
        guard isUp[device - 1] else {
            isUp[device - 1] = true
            note(device, "connected -")
            return "\(device) connect"
        }
        if isTurning {
            isUp[device - 1] = false
            let reason = ["remote-user", "timeout"].randomElement(using: &random) ?? "timeout"
            note(device, "disconnected \(reason)")
            return "\(device) disconnect reason=\(reason)"
        }
        let bytes = Self.beat(index)
        note(device, "data \(bytes)")
        return "\(device) data 2a37 \(bytes)"
    }

    private mutating func note(_ device: Int, _ what: String) { expected[Self.alias(device), default: []].append(what) }

    /// A heart rate with two RR intervals, which hold the index.
    static func beat(_ index: Int) -> String {
        let bytes = [0x10, 60 + index % 40, index & 0xff, index >> 8 & 0xff, index >> 16 & 0xff, 1]
        return bytes.map { UInt8($0) }.hexadecimal
    }
}
