// The export to btsnoop: what our own importer makes of it, and what Wireshark shows where it is installed.
import Foundation
import TestBench
import Testing
import WakeCapture
import WakeModel
import WakeTrace

private let lines = """
    wakebridge-trace 1
    clock 2026-11-21T07:42:46.727125Z
    device 3 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" name="Polar H10" service=180d service=fee7 \
    service=12345678-1234-5678-1234-56789abcdef0 service=12345678
    device 4 bluetooth 00:1B:DC:0F:10:02 name="Scales"
    +0.000000 3 connect
    +0.812000 3 data 2a37 10495403
    +0.000000 4 connect
    +0.100000 4 data 49535343-1e4d-4bd9-ba61-23c647249616 LONG
    +0.000001 4 data 12345678
    +0.200000 3 data fee8
    +1.004000 3 disconnect reason=remote-user
    +0.500000 3 connect
    +0.100000 3 data 2a19 63
    +0.100000 3 disconnect reason=0x3f
    +0.000000 4 disconnect reason=timeout
    end

    """.replacingOccurrences(of: "LONG", with: String(repeating: "a5", count: 500))

private func parsed(_ text: String) throws -> (header: TraceHeader, operations: [TraceOperation]) {
    var reader = TraceReader(bytes: Array(text.utf8))
    let header = try reader.header()
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    return (header, operations)
}

private func exported(_ text: String) throws -> ExportResult {
    let trace = try parsed(text)
    return try CaptureExport.run(trace.header, trace.operations)
}

/// Without what a capture does not know: numbers of lines, aliases, and the devices' own numbers.
private func bare(_ operations: [TraceOperation]) -> [TraceOperation] {
    operations.map { TraceOperation(offset: $0.offset, subject: $0.subject) }
}

@Test(
    "A trace that is exported as pcapng is what it is as btsnoop, for us and for tshark",
    .enabled(if: Tshark.isInstalled, Tshark.missing))
func pcapngExport() throws {
    let trace = try parsed(lines)
    let (one, other) = (
        try CaptureExport.run(trace.header, trace.operations),
        try CaptureExport.run(trace.header, trace.operations, as: .pcapng)
    )
    #expect(one.counts == other.counts)
    let (first, second) = (try TraceImport.run(one.capture), try TraceImport.run(other.capture))
    #expect(first.trace == second.trace)
    let folder = CaptureFolder()
    put(other.capture, at: folder.file("a.pcapng"))
    #expect(try Tshark.notifications(folder.file("a.pcapng")) == other.counts.notifications)
}

@Test("A trace that is exported and imported again has the same clock, devices, data, connects and disconnects")
func exportRoundTrip() throws {
    let trace = try parsed(lines)
    let result = try CaptureExport.run(trace.header, trace.operations)
    let back = try TraceImport.run(result.capture)
    #expect(bare(back.operations) == bare(trace.operations))
    #expect(back.header.start == trace.header.start)
    #expect(back.header.devices.map(\.address) == trace.header.devices.map(\.address))
    #expect(back.header.devices.map(\.name) == ["Polar H10", "Scales"])
    #expect(back.header.devices.map(\.services) == trace.header.devices.map(\.services))
    #expect(back.warnings == [])
    #expect(result.warnings == [])
    #expect(result.counts.links == 3)
    #expect(result.counts.notifications == 5)
    // Three fragments for one value, one packet for each other.
    #expect(result.counts.records == 43 && back.counts.records == 43)
}

@Test("An imported capture of a real device comes back the same when it is exported and imported again")
func exportOfImport() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let path = root.appendingPathComponent("Devices/heart-rate-monitor/recording.trace").path
    let text = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    let trace = try parsed(text)
    let result = try CaptureExport.run(trace.header, trace.operations)
    #expect(bare(try TraceImport.run(result.capture).operations) == bare(trace.operations))
}

@Test("What a capture cannot hold is left out, each with a sentence")
func exportLeavesOut() throws {
    let result = try exported(
        """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
        device 2 accessory 2341:0043:7583 alias="sensor"
        +0 1 disconnect reason=timeout
        +0 1 data 2a37 01
        +0 2 data serial 24
        +0 1 gap link count=3
        +0 1 attention pairing "pair it"
        +0 1 data serial 24
        +0 1 disconnect reason=link-lost
        end

        """)
    let back = try TraceImport.run(result.capture)
    #expect(
        back.operations.map(\.kind) == [
            .connected(folded: 0), .data(.characteristic(BluetoothUUID(short: 0x2a37)), [1]),
            .disconnected(reason: "unspecified", folded: 0),
        ])
    let told = result.warnings.joined(separator: "\n")
    for sentence in [
        "device 2 (sensor) is an accessory", "device 1 (strap) speaks without a connection",
        "no code for the reason \"link-lost\"; it stands as unspecified", "have no place in a capture: 3 in all",
        "1 disconnect of what was not connected",
    ] { #expect(told.contains(sentence)) }
}

@Test(
    "What a device broadcasts is an advertising report, an extended one where it is long; what is too long is told of")
func exportBroadcasts() throws {
    let long = [UInt8(60), 0xff] + [UInt8](repeating: 0xa5, count: 59)
    let result = try exported(
        """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01
        +0 1 data advertisement 030918d505ff990405ee
        +1 1 data advertisement \(long.hexadecimal)
        +1 1 data advertisement \(String(repeating: "03ffa5a5", count: 60))
        +1 1 connect
        end

        """)
    #expect(result.counts.advertisements == 2 && result.counts.notifications == 0)
    let report: [UInt8] = [0x3e, 22, 2, 1, 0, 1, 0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0, 10, 3, 9, 0x18, 0xd5, 5, 0xff]
    #expect(result.capture.contains(report) && result.capture.contains([0x3e, 87, 0x0d, 1, 0, 0, 1, 0x01, 0xf4]))
    #expect(result.capture.contains([UInt8(long.count)] + long))
    #expect(
        result.warnings == ["gaps, attentions and advertisements over 229 bytes have no place in a capture: 1 in all"])
}

@Test("What the machine and handlers did is left out with one sentence, and time goes on in a capture while it slept")
func exportLeavesOutTheMachine() throws {
    let result = try exported(
        """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
        +0 1 connect
        +1 machine clock -3600
        +1 machine sleep 28800
        +1 handler hr attach
        +1 1 data 2a37 01
        end

        """)
    #expect(result.warnings == ["what the machine and handlers did has no place in a capture: 3 lines left out"])
    #expect(try TraceImport.run(result.capture).operations.map(\.offset) == [.zero, .seconds(28_804)])
}

@Test("A trace without a Bluetooth device is refused with the reason")
func exportRefuses() throws {
    let error = thrown(ExportError.self) {
        try exported("wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 accessory 2341\nend\n")
    }
    #expect(error?.reason.contains("no Bluetooth device") == true)
}

@Test("Discovery of hundreds of services and characteristics fits the units of ATT, and names every one")
func exportOfMany() throws {
    let services = (0..<200).map { " service=\(String(0x10000 + $0, radix: 16).suffix(4))" }.joined()
    let data = (0..<400).map { "+0 1 data \(String(0x2_4000 + $0, radix: 16).suffix(4)) 01\n" }.joined()
    let name = String(repeating: "ä", count: 200)
    let text =
        "wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 name=\"\(name)\""
        + services + "\n+0 1 connect\n" + data + "end\n"
    let trace = try parsed(text)
    let capture = try CaptureExport.run(trace.header, trace.operations).capture
    #expect(unitLengths(capture).max() == 513)
    let back = try TraceImport.run(capture)
    #expect(bare(back.operations) == bare(trace.operations))
    #expect(back.header.devices.first?.services == trace.header.devices.first?.services)
    #expect(back.header.devices.first?.name == String(repeating: "ä", count: 124))
    #expect(back.warnings == [])
}

/// What each L2CAP frame says of its length; a unit of ATT may have the 517 bytes that were agreed on.
private func unitLengths(_ capture: [UInt8]) -> [Int] {
    var lengths: [Int] = []
    var place = 16
    while place + 31 < capture.count {
        let packet = capture[(place + 24)...]
        let isStart = packet[place + 24] == 2 && packet[place + 26] & 0x30 != 0x10
        if isStart { lengths.append(Int(packet[place + 29]) | Int(packet[place + 30]) << 8) }
        place += 24 + capture[(place + 4)..<(place + 8)].reduce(0) { $0 << 8 | Int($1) }
    }
    return lengths
}

extension Tshark {
    /// The fields of every frame that passes the filter.
    fileprivate static func fields(_ names: [String], of capture: [UInt8], filter: String) throws -> [[String]] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("export-\(UUID()).btsnoop")
        try Data(capture).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/tshark")
        process.arguments = ["-r", file.path, "-Y", filter, "-T", "fields"] + names.flatMap { ["-e", $0] }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }
}

@Test(
    "Wireshark reads an export: addresses, reasons, and every notification with its characteristic",
    .enabled(if: Tshark.isInstalled, Tshark.missing))
func exportInWireshark() throws {
    let capture = try exported(lines).capture
    let isWrong = "_ws.malformed || _ws.expert.severity >= 6291456"
    #expect(try Tshark.fields(["frame.number"], of: capture, filter: isWrong) == [])
    let values = try Tshark.fields(
        ["bthci_acl.src.bd_addr", "btatt.uuid16", "btatt.uuid128", "btatt.heart_rate_measurement.value.8"],
        of: capture, filter: "btatt.opcode == 0x1b")
    #expect(
        values == [
            ["c0:f1:f2:f3:f4:01", "0x2a37", "", "73"],
            ["00:1b:dc:0f:10:02", "", "495353431e4d4bd9ba6123c647249616", ""],
            ["00:1b:dc:0f:10:02", "", "1234567800001000800000805f9b34fb", ""],
            ["c0:f1:f2:f3:f4:01", "0xfee8", "", ""], ["c0:f1:f2:f3:f4:01", "0x2a19", "", ""],
        ])
    let reasons = try Tshark.fields(["bthci_evt.reason"], of: capture, filter: "bthci_evt.code == 0x05")
    #expect(reasons == [["0x13"], ["0x3f"], ["0x08"]])
    let times = try Tshark.fields(["frame.time_epoch"], of: capture, filter: "btatt.opcode == 0x1b")
    #expect(times.first == ["1795246967.539125000"])
}
