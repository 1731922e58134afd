// Recordings of real devices: each gives as many values as it holds, by its own lines or by tshark.
import TestBench
import Testing
import WakeModel
import WakeTrace

@testable import WakeCapture

private func imported(_ names: [String]) throws -> ImportResult {
    var recording = TraceImport()
    for name in names { try recording.add(HeldBytes(DeviceCaptures.bytes(name))) }
    let imported = try recording.finish()
    let held = HeldTrace()
    try imported.write(to: held)
    var reader = TraceReader(bytes: held.bytes)
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    return ImportResult(
        header: imported.header, operations: operations, warnings: imported.warnings, counts: imported.counts,
        cut: imported.cut)
}

private func data(_ result: ImportResult) -> [(channel: Channel, bytes: [UInt8], offset: TimeSpan)] {
    result.operations.compactMap { operation -> (channel: Channel, bytes: [UInt8], offset: TimeSpan)? in
        guard case .data(let channel, let bytes) = operation.kind else { return nil }
        return (channel, bytes, operation.offset)
    }
}

@Suite("Recordings of real devices", .enabled(unless: DeviceCaptures.hindrance))
struct RecordingTests {
    @Test(
        "every recording among the captures imports, and its trace reads back",
        arguments: ["bluetooth", "hid", "input", "serial", "usb"])
    func everyRecording(folder: String) throws {
        let names = names(in: "\(DeviceCaptures.folder)/\(folder)").filter { !$0.hasSuffix(".expected") }
        #expect(!names.isEmpty)
        for name in names {
            let result = try imported(["\(folder)/\(name)"])
            #expect(result.cut == nil, "\(name)")
            #expect(!result.header.devices.isEmpty || name.hasPrefix("near-empty"), "\(name)")
        }
    }

    @Test(
        "as many notifications and indications are imported as tshark finds",
        .enabled(if: Tshark.isInstalled, Tshark.missing),
        arguments: ["domyos-treadmill", "horizon-treadmill", "smart-pen", "near-empty-monitor"])
    func notifications(name: String) throws {
        let counts = try imported(["bluetooth/\(name).btsnoop"]).counts
        let file = DeviceCaptures.btsnoop(name)
        let values = try Tshark.values(file)
        #expect(counts.notifications == values.notifications && counts.indications == values.indications)
    }

    @Test("a hid-recorder file gives its 874 reports, under the numbers that they begin with")
    func reports() throws {
        let lines = DeviceCaptures.lines("hid/penpartner.hidrecord").filter { $0.hasPrefix("E: ") }
        let data = data(try imported(["hid/penpartner.hidrecord"]))
        #expect(lines.count == 874)
        #expect(data.count == lines.count)
        for (line, value) in zip(lines, data) {
            let words = line.split(separator: " ")
            #expect([UInt8](hexadecimal: words[3...].joined()) == value.bytes)
            #expect(value.channel == .report(value.bytes[0]))
        }
    }

    @Test("an evemu file gives a batch for each SYN_REPORT that ends one", arguments: ["xbox-pad", "headset-buttons"])
    func batches(name: String) throws {
        var batches: [Int] = []
        var gathered = 0
        for line in DeviceCaptures.lines("input/\(name).events") where line.hasPrefix("E: ") {
            let words = line.split(separator: " ")
            if words[2] == "0000", words[3].hasPrefix("000") {
                if gathered > 0 { batches.append(gathered) }
                gathered = 0
            } else {
                gathered += 1
            }
        }
        let data = data(try imported(["input/\(name).events"]))
        #expect(!batches.isEmpty)
        #expect(data.map { $0.bytes.count / 8 } == batches)
        #expect(data.allSatisfy { $0.channel == .input })
    }

    @Test(
        "a receiver's sentences come in their order, at the times that gpsd reads in them",
        arguments: ["bu353s4", "holux-gm-210"])
    func sentences(name: String) throws {
        let sentences = text(of: "\(DeviceCaptures.folder)/serial/\(name).nmea").split { $0.isNewline }.map(String.init)
        let result = try imported(["serial/\(name).nmea"])
        let data = data(result)
        #expect(data.map { String(decoding: $0.bytes, as: UTF8.self) } == sentences)
        let times = try DeviceCaptures.lines("serial/\(name).expected").filter { $0.contains(#""class":"TPV""#) }
            .compactMap { try JSONValue(parsing: Array($0.utf8))["time"]?.string }.compactMap { WallTime(rfc3339: $0) }
        let ours = zip(sentences, data).filter { $0.0.hasPrefix("$GPRMC") }.map { result.header.start + $0.1.offset }
        // One of them had no satellites, so that gpsd reads no time in what it says.
        #expect(!ours.isEmpty && times.isEmpty == (name == "holux-gm-210"))
        for time in Set(times) {
            #expect(ours.contains { abs($0.microseconds - time.microseconds) < 2_000_000 }, "\(time.rfc3339)")
        }
    }

    @Test(
        "a USB capture gives as many interrupts from devices as tshark finds",
        .enabled(if: Tshark.isInstalled, Tshark.missing),
        arguments: ["usbkbd.pcap", "fingerprint-elanmoc.custom", "fingerprint-synaptics.custom"])
    func transfers(name: String) throws {
        let result = try imported(["usb/\(name).pcapng"])
        // The first device of a bus is Linux' own hub.
        let filter =
            "usb.device_address != 1 && usb.urb_type == 'C' && usb.endpoint_address.direction == 1 && usb.data_len > 0 && usb.transfer_type == "
        let file = "\(DeviceCaptures.folder)/usb/\(name).pcapng"
        let reports = data(result).count { if case .report = $0.channel { true } else { false } }
        #expect(try reports == Tshark.count(file, filter + "1"))
        let bulk = try Tshark.count(file, filter + "3")
        #expect(data(result).contains { $0.channel == .serial } == (bulk > 0))
    }

    @Test("what a USB capture tells is of the device that a description of umockdev names")
    func describedCapture() throws {
        let alone = try imported(["usb/usbkbd.pcap.pcapng"])
        let result = try imported(["usb/usbkbd.pcap.umockdev", "usb/usbkbd.pcap.pcapng"])
        #expect(data(result).count == data(alone).count && data(alone).count > 0)
        let device = try #require(result.header.devices.first { $0.address.hasPrefix("04d9:") })
        #expect(result.header.devices.count == alone.header.devices.count)
        #expect(device.name?.isEmpty == false)
    }

    @Test("a script of umockdev plays on the device that its description names")
    func script() throws {
        let result = try imported(["usb/fido2.umockdev", "usb/fido2.ioctl", "usb/fido2.script"])
        let device = try #require(result.header.devices.first)
        #expect(result.header.devices.count == 1)
        #expect(device.address.hasPrefix("1050:0120:") && !device.reportDescriptor.isEmpty)
        // Thirteen lines hold one report, and two hold the six that were read without a wait.
        let data = data(result)
        #expect(data.count == 19)
        #expect(data.allSatisfy { $0.channel == .report(0) && $0.bytes.count == 64 })
    }

    @Test("a script of an input device gives the batches of its reads")
    func inputScript() throws {
        let data = data(try imported(["usb/usbkbd.evtest.script.64"]))
        let reads = bytes(of: "\(DeviceCaptures.folder)/usb/usbkbd.evtest.script.64")
            .split(separator: UInt8(ascii: "\n")).count { $0.starts(with: Array("r ".utf8)) }
        #expect(data.count == reads && reads > 0)
        #expect(data.allSatisfy { $0.channel == .input })
    }
}
