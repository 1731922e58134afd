// Several traces made one: in order of the wall clock, with devices that are the same made one.
import TestBench
import Testing
import WakeModel
import WakeTrace
import WakeTraceEditing

private func reader(_ clock: String, _ devices: String, _ lines: String) -> TraceReader {
    TraceReader(bytes: Array("wakebridge-trace 1\nclock \(clock)\n\(devices)\n\(lines)\nend\n".utf8))
}

@Test("Two traces become one in order of the wall clock, and a device of both is one device")
func merged() throws {
    var merge = try TraceMerge([
        reader(
            "2026-11-21T07:42:47.000000Z", "device 7 bluetooth C0:F1:F2:F3:F4:01",
            "+0.000000 7 connect\n+2.000000 7 data 2a37 0048"),
        reader(
            "2026-11-21T07:42:46.000000Z",
            "device 1 accessory 1a86:7523:x:00\ndevice 2 bluetooth C0:F1:F2:F3:F4:01 name=\"H10\"",
            "+1.000000 1 connect\n+1.000000 1 data serial 41\n+1.000000 2 data 2a37 0049"),
    ])
    #expect(merge.header.start.rfc3339 == "2026-11-21T07:42:46.000000Z")
    #expect(merge.header.devices.map(\.address) == ["C0:F1:F2:F3:F4:01", "1a86:7523:x:00"])
    #expect(merge.header.devices.map(\.name) == ["H10", nil])
    var told: [TraceOperation] = []
    while let operation = try merge.next() { told.append(operation) }
    #expect(
        told == [
            TraceOperation(offset: .seconds(1), device: 0, kind: .connected(folded: 0)),
            TraceOperation(offset: .seconds(1), device: 1, kind: .connected(folded: 0)),
            TraceOperation(offset: .seconds(2), device: 1, kind: .data(.serial, [0x41])),
            TraceOperation(
                offset: .seconds(3), device: 0, kind: .data(.characteristic(BluetoothUUID(short: 0x2a37)), [0, 0x48])),
            TraceOperation(
                offset: .seconds(3), device: 0, kind: .data(.characteristic(BluetoothUUID(short: 0x2a37)), [0, 0x49])),
        ])
}

@Test("What one trace does not know of a device comes from another, so that a profile goes on finding it")
func knownTogether() throws {
    let (clock, device) = ("2026-11-21T07:42:46.000000Z", "device 1 accessory 1a86:7523:x:00")
    let merge = try TraceMerge([
        reader(clock, device + " property.ID_MODEL_ID=\"7523\" service=180d", "+1.000000 1 connect"),
        reader(
            clock,
            device + " property.ID_MODEL_ID=\"0000\" property.NAME=\"x\" service=180d service=180f "
                + "report_descriptor=0501", "+1.000000 1 connect"),
    ])
    let known = try #require(merge.header.devices.first)
    #expect(merge.header.devices.count == 1 && known.services.map(\.description) == ["180d", "180f"])
    #expect(known.properties.map { "\($0.key)=\($0.value)" } == ["ID_MODEL_ID=7523", "NAME=x"])
    #expect(known.reportDescriptor == [5, 1] && known.advertisement.isEmpty)
}

@Test("A trace that tells of the machine is refused by its place among the traces, and so is one that was cut")
func unmergeable() throws {
    let device = "device 1 bluetooth C0:F1:F2:F3:F4:01"
    let clock = "2026-11-21T07:42:46.000000Z"
    var merge = try TraceMerge([
        reader(clock, device, "+1.000000 1 connect"), reader(clock, device, "+0.000000 machine sleep 60"),
    ])
    #expect(thrown(TraceMerge.Fault.self) { while try merge.next() != nil {} }?.trace == 1)
    let cut = TraceReader(bytes: Array("wakebridge-trace 1\nclock \(clock)\n\(device)\n".utf8))
    #expect(
        thrown(TraceMerge.Fault.self) { _ = try TraceMerge([reader(clock, device, "+1.000000 1 connect"), cut]) }?.trace
            == 1)
}
