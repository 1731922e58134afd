// The data of shipped Bluetooth devices, read a second time: by tshark, from the capture that `export` makes.
import DeviceLibrary
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

private let folder = "\(packageFolder)/Devices"

/// The data of Bluetooth devices: their recording, or their published messages.
private enum BluetoothTraces {
    static let devices = ShippedLibrary.library.heads.filter {
        $0.kind == .bluetoothCentral && ShippedLibrary.devices.contains($0.name)
    }.map(\.name).sorted()

    /// Fills a folder as Devices would be if each of them had a recording.
    static func write(to place: String) throws {
        symlink("\(folder)/gatt", "\(place)/gatt")
        for name in devices {
            guard !File.exists("\(folder)/\(name)/recording.trace") else {
                symlink("\(folder)/\(name)", "\(place)/\(name)")
                continue
            }
            mkdir("\(place)/\(name)", 0o755)
            symlink("\(folder)/\(name)/profile.json5", "\(place)/\(name)/profile.json5")
            let trace = try PublishedTrace(of: name)
            put(trace.text, at: "\(place)/\(name)/recording.trace")
            put(try trace.replayed(), at: "\(place)/\(name)/expected.ndjson")
        }
    }
}

private enum Tshark {
    static var hindrance: String? {
        let isThere = access("/usr/bin/tshark", X_OK) == 0 && access("/usr/bin/python3", X_OK) == 0
        return isThere ? nil : "an independent reading of traces needs tshark and python3"
    }
}

@Suite("An independent reading of what Bluetooth devices send", .tags(.outside), .enabled(unless: Tshark.hindrance))
struct IndependentReadingTests {
    private let scratch = Scratch()

    private func read(_ devices: String, _ names: [String]) async throws -> Running.Outcome {
        let program = "\(packageFolder)/Tests/Lab/tshark_reading.py"
        return try await Running(["/usr/bin/python3", "-B", program, Built.tool, devices] + names, in: scratch)
            .end(within: 60 + 3 * Double(names.count))
    }

    @Test("tshark reads the bytes that every device sends, and in what it dissects itself the values that events have")
    func agrees() async throws {
        let traces = scratch.directory("devices")
        try BluetoothTraces.write(to: traces)
        let outcome = try await read(traces, BluetoothTraces.devices)
        print(outcome.output)
        #expect(outcome.exit == 0, "\(outcome.talk.prefix(4000))")
        #expect(outcome.lines.contains { $0.hasPrefix("values of 2a37 heart_rate_measurement: ") })
        #expect(outcome.lines.contains("recordings: \(BluetoothTraces.devices.count)"))
    }

    @Test("a value that we told otherwise, and a byte that the capture would have otherwise, are found")
    func differs() async throws {
        for (file, from, to) in [
            ("expected.ndjson", "\"bpm\":7", "\"bpm\":17"), ("recording.trace", " data 2a37 16", " data 2a37 17"),
        ] {
            let devices = scratch.directory("devices-\(file)")
            for name in ["gatt", "heart-rate-monitor"] {
                symlink("\(folder)/\(name)", "\(devices)/\(name)")
            }
            unlink("\(devices)/heart-rate-monitor")
            mkdir("\(devices)/heart-rate-monitor", 0o755)
            for name in names(in: "\(folder)/heart-rate-monitor") {
                let text = text(of: "\(folder)/heart-rate-monitor/\(name)")
                let changed = name == file ? text.replacing(from, with: to) : text
                #expect(name != file || changed != text)
                put(changed, at: "\(devices)/heart-rate-monitor/\(name)")
            }
            let outcome = try await read(devices, ["heart-rate-monitor"])
            #expect(outcome.exit == 1 && outcome.talk.contains("heart-rate-monitor: "), "\(outcome.talk.prefix(400))")
        }
    }
}
