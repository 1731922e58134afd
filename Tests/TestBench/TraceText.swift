// Traces that tests make up: what comes when.
import WakeModel

/// A trace as tests need it: what comes when, in seconds since the start.
package struct TraceText {
    private var devices = ""
    private var operations: [(time: Double, text: String)] = []

    package init(devices count: Int = 1) {
        for number in 1...count {
            devices += "device \(number) bluetooth C0:F1:F2:F3:F4:0\(number) alias=\"strap-\(number)\" service=180d\n"
        }
    }

    package mutating func add(_ time: Double, _ device: Int = 1, _ operation: String) {
        operations.append((time, "\(device) \(operation)"))
    }

    /// Heart rates, so that one can be told from another.
    package mutating func addBeats(_ count: Int, from start: Double, every period: Double, device: Int = 1) {
        for beat in 0..<count {
            add(
                start + Double(beat) * period, device,
                "data 2a37 " + [0, UInt8(truncatingIfNeeded: 60 + beat)].hexadecimal)
        }
    }

    /// `count` beats of one device, after its connection.
    package static func beats(_ count: Int, every period: Double) -> TraceText {
        var trace = TraceText()
        trace.add(0, 1, "connect")
        trace.addBeats(count, from: period, every: period)
        return trace
    }

    package var text: String {
        var text = "wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n" + devices
        var before = 0
        for operation in operations.sorted(by: { $0.time < $1.time }) {
            let microseconds = Int((operation.time * 1e6).rounded())
            let delay = microseconds - before
            before = microseconds
            let fraction = String(1_000_000 + delay % 1_000_000).dropFirst()
            text += "+\(delay / 1_000_000).\(fraction) \(operation.text)\n"
        }
        return text + "end\n"
    }
}
