// Recordings that were cut, spoilt or made to lie: an error with an offset or a trace that reads, and never a crash.
import TestBench
import Testing
import WakeModel
import WakeTrace

@testable import WakeCapture

/// Records of pcapng with everything that its sections may vary.
private enum Pcapng {
    static func number(_ value: UInt64, _ count: Int, _ order: ByteOrder) -> [UInt8] { made(value, count, order) }

    static func block(_ kind: UInt64, _ body: [UInt8], _ order: ByteOrder) -> [UInt8] {
        let padded = padded(body)
        let length = number(UInt64(padded.count + 12), 4, order)
        return number(kind, 4, order) + length + padded + length
    }

    static func section(_ order: ByteOrder) -> [UInt8] {
        let body = number(0x1a2b_3c4d, 4, order) + number(1, 2, order) + number(0, 2, order)
        return block(0x0a0d_0d0a, body + [UInt8](repeating: 0xff, count: 8), order)
    }

    static func interface(_ link: UInt64, resolution: UInt8, shift: UInt64 = 0, _ order: ByteOrder) -> [UInt8] {
        let options =
            number(9, 2, order) + number(1, 2, order) + [resolution, 0, 0, 0] + number(14, 2, order)
            + number(8, 2, order) + number(shift, 8, order) + [0, 0, 0, 0]
        return block(1, number(link, 2, order) + [0, 0, 0, 0, 0, 0] + options, order)
    }

    static func packet(_ interface: UInt64, _ time: UInt64, _ bytes: [UInt8], _ order: ByteOrder) -> [UInt8] {
        let head = number(interface, 4, order) + number(time >> 32, 4, order) + number(time & 0xffff_ffff, 4, order)
        let lengths = number(UInt64(bytes.count), 4, order) + number(UInt64(bytes.count), 4, order)
        return block(6, head + lengths + padded(bytes), order)
    }

    /// Of the section's first interface, without a time.
    static func simple(_ bytes: [UInt8], _ order: ByteOrder) -> [UInt8] {
        block(3, number(UInt64(bytes.count), 4, order) + padded(bytes), order)
    }

    /// As it was before there were enhanced packets: the interface in two bytes, then a count of what was lost.
    static func old(_ interface: UInt64, _ time: UInt64, _ bytes: [UInt8], _ order: ByteOrder) -> [UInt8] {
        let head = number(interface, 2, order) + number(0xffff, 2, order)
        let times = number(time >> 32, 4, order) + number(time & 0xffff_ffff, 4, order)
        let lengths = number(UInt64(bytes.count), 4, order) + number(UInt64(bytes.count), 4, order)
        return block(2, head + times + lengths + padded(bytes), order)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    /// The strap's packets over two sections of different orders, in clocks of nanoseconds and of 1/1024 s.
    /// The interfaces of another section are others, so the strap connects again there.
    static var whole: [UInt8] {
        let packets = MadeStrap.hci.map { [0, 0, 0, $0.isReceived ? 1 : 0] + $0.bytes }
        var bytes = section(.big) + interface(1, resolution: 6, .big) + interface(201, resolution: 9, .big)
        for (place, packet) in packets.prefix(20).enumerated() {
            bytes += Self.packet(1, 1_795_000_000_000_000_000 + UInt64(place) * 1_000_000_000, packet, .big)
        }
        bytes += section(.little) + interface(201, resolution: 0x8a, shift: 1_795_000_000, .little)
        for (place, packet) in ([packets[1]] + packets.dropFirst(20)).enumerated() {
            bytes += Self.packet(0, UInt64(place + 19) * 1024 + 512, packet, .little)
        }
        return bytes
    }
}

/// A small recording of each kind, by the name that it is listed under.
let madeRecordings: [(name: String, bytes: [UInt8])] = [
    ("btsnoop", PackedTests.btsnoop), ("pcapng", Pcapng.whole), ("PacketLogger", PacketLoggerTests.file(.big)),
    ("PacketLogger, little", PacketLoggerTests.file(.little)),
    ("pcap", MadePcap.file(MadeStrap.hci.map(\.bytes), link: 187, .little)),
    ("pcap, USB", MadePcap.file(MadeMouse.steps.map { $0.linux(header: 64) }, link: 220, .little)),
    (
        "evemu",
        Array("# EVEMU 1.3\n# Input device name: \"x\"\nE: 1.000001 0001 001e 1\nE: 1.000001 0000 0000 0\n".utf8)
    ),
    ("hid-recorder", Array("D: 0\nR: 5 06 00 ff a1 00\nN: x\nI: 3 056a 0061\nE: 0.000000 3 63 00 01\n".utf8)),
    ("NMEA log", Array("$GPRMC,030719.000,A,3747.0873,S,17518.8938,E,0.69,181.39,311214,,,A*7D\r\n".utf8)),
    ("umockdev script", Array("d 0 /dev/ttyUSB0\nr 5 ST^J\nw 3 ^@^`\nr 1 \u{7f}\n".utf8)),
    (
        "nRF Connect log",
        Array(
            ("nRF Connect, 2026-08-31\nI\t1:02:03.4\tNotification received from "
                + "00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 00-3C\n").utf8)
    ),
    (
        "gatttool log",
        Array("Notification handle = 0x0012 value: 06 3c \nNotification handle = 0x0012 value: 06 3d \n".utf8)
    ),
    (
        "bluetoothctl log",
        Array(
            ("[CHG] Attribute /org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service0028/char002c Value:\n"
                + "  06 3c                                            .<\n").utf8)
    ),
    ("umockdev ioctl", Array("@DEV /dev/bus/usb/001/003\nUSBDEVFS_REAPURB 0 1 129 0 0 4 3 0102FF\n".utf8)),
    (
        "libinput record",
        Array(
            ("libinput:\n- node: /dev/input/event3\n  evdev:\n    name: \"One\"\n    id: [3, 1133, 49948, 273]\n"
                + "  events:\n    - [  5, 100000,   1,  30,       1]\n    - [  5, 100000,   0,   0,       0]\n").utf8)
    ),
    ("description of devices", Array("P: /devices/x/usb1/1-3\nE: DEVTYPE=usb_device\nE: ID_VENDOR_ID=04d9\n".utf8)),
]

@Suite("Damage") struct DamageTests {
    /// The import of these bytes ends in one of the two ways in which it may.
    private func end(_ bytes: [UInt8], _ about: @autoclosure () -> String) throws {
        for partial in [false, true] {
            do {
                let result = try TraceImport.run(bytes, partial: partial)
                var reader = TraceReader(bytes: result.trace)
                while try reader.next() != nil {}
            } catch let error as ImportError {
                #expect(error.offset <= bytes.count && !error.reason.isEmpty, "\(about()): \(error)")
            }
        }
    }

    @Test("two sections, three clocks and both byte orders make one trace in order of time")
    func sections() throws {
        let result = try TraceImport.run(Pcapng.whole)
        MadeStrap.expectAll(result, "pcapng")
        #expect(result.header.start == WallTime(microseconds: 1_795_000_000_000_000))
        #expect(result.operations.first?.offset == .seconds(1))
        #expect(result.operations.last?.offset == .milliseconds(Int64(MadeStrap.hci.count - 1) * 1000 + 500))
    }

    /// Captures at each byte of their first records, then at every eleventh, which meets each byte of a record.
    @Test("a file cut at any byte is an error with its offset, or whole", arguments: madeRecordings.map(\.name))
    func cuts(name: String) throws {
        let bytes = try #require(madeRecordings.first { $0.name == name }).bytes
        let lengths = Array(0..<min(bytes.count, 320)) + Array(stride(from: 320, to: bytes.count, by: 11))
        for length in lengths { try end(Array(bytes.prefix(length)), "\(name) cut after \(length) bytes") }
    }

    @Test(
        "hundreds of files with random damage of each kind end in an error or in a trace that reads",
        arguments: madeRecordings.map(\.name))
    func spoilt(name: String) throws {
        let bytes = try #require(madeRecordings.first { $0.name == name }).bytes
        var dice = Dice(29)
        for round in 0..<(bytes.count < 320 ? 900 : 300) {
            var spoilt = bytes
            for _ in 0...dice.below(6) { spoilt[dice.below(spoilt.count)] = UInt8(dice.below(256)) }
            if round % 3 == 0 { spoilt.insert(UInt8(dice.below(256)), at: dice.below(spoilt.count)) }
            try end(spoilt, "\(name), round \(round)")
        }
    }

    @Test("a length that lies is an error that names the record")
    func lies() throws {
        let rows: [(name: String, place: Int, byte: UInt8, offset: Int, reason: String)] = [
            ("btsnoop", 16 + 4, 0x7f, 16, "more than any packet"), ("pcapng", 4 + 3, 13, 0, "as no block has"),
            ("pcapng", 4, 0x7f, 0, "cut inside"), ("pcap", 24 + 11, 0x7f, 24, "more than any packet"),
            ("pcap, USB", 24 + 10, 0x7f, 24, "more than any packet"),
        ]
        for row in rows {
            var bytes = try #require(madeRecordings.first { $0.name == row.name }).bytes
            bytes[row.place] = row.byte
            let error = thrown(ImportError.self) { try TraceImport.run(bytes) }
            #expect(error?.offset == row.offset, "\(row.name): \(error?.description ?? "")")
            #expect(error?.reason.contains(row.reason) == true, "\(row.name): \(error?.description ?? "")")
        }
    }

    @Test("in a recording of text a length that lies costs its own line alone, which is named")
    func lyingLines() throws {
        for (name, place, line) in [("hid-recorder", 8, 2), ("umockdev ioctl", 26 + 31, 2)] {
            var bytes = try #require(madeRecordings.first { $0.name == name }).bytes
            bytes[place] = UInt8(ascii: "9")
            let warnings = try TraceImport.run(bytes).warnings
            let words = "does not have as many bytes as it states; line \(line) is left out"
            #expect(warnings.contains { $0.hasSuffix(words) }, "\(name): \(warnings)")
        }
    }

    /// A script cannot tell, for it may end without a newline.
    @Test(
        "a text that was cut inside a line is an error, and never a shorter value",
        arguments: [
            "evemu", "hid-recorder", "NMEA log", "nRF Connect log", "gatttool log", "bluetoothctl log",
            "umockdev ioctl",
            "description of devices",
        ])
    func cutLines(name: String) throws {
        let bytes = try #require(madeRecordings.first { $0.name == name }).bytes
        for length in 1..<bytes.count where bytes[length - 1] != UInt8(ascii: "\n") {
            // All that a sentence says is there, with its checksum.
            let isWhole = name == "NMEA log" && length >= bytes.count - 2
            let part = Array(bytes.prefix(length))
            #expect(isWhole != ((try? TraceImport.run(part)) == nil), "\(name) cut after \(length) bytes")
        }
    }

    @Test("a part of one recording is kept, and the next is whole; the damage is told of the first")
    func severalFiles() throws {
        var terms = ImportTerms()
        terms.partial = true
        var recording = TraceImport(terms)
        let pad = try #require(madeRecordings.first { $0.name == "evemu" }).bytes
        try recording.add(HeldBytes(Array(pad.dropLast(3))))
        let cut = recording.cut
        try recording.add(HeldBytes(PackedTests.btsnoop))
        #expect(cut?.isCut == true && recording.cut == cut)
        #expect(try recording.finish().counts.notifications == MadeStrap.values - 1)
    }

    @Test(
        "packets without a time are paced, and those of the oldest kind are read, as tshark reads them",
        .enabled(if: Tshark.isInstalled, Tshark.missing))
    func oldBlocks() throws {
        // tshark reads no simple packet of a link type that has a direction before it.
        let packets = MadeStrap.hci.map(\.bytes)
        for order in [ByteOrder.little, .big] {
            let head = Pcapng.section(order) + Pcapng.interface(187, resolution: 6, order)
            let simple = head + packets.flatMap { Pcapng.simple($0, order) }
            let old =
                head
                + packets.enumerated().flatMap { place, packet in
                    Pcapng.old(0, 1_795_000_000_000_000 + UInt64(place) * 1_000_000, packet, order)
                }
            for (bytes, step) in [(simple, TimeSpan.milliseconds(100)), (old, .seconds(1))] {
                let result = try TraceImport.run(bytes)
                MadeStrap.expectAll(result, "\(order)")
                let offsets = result.operations.map(\.offset)
                #expect(offsets.last.map { $0 - offsets[0] } == step * Int64(packets.count - 2), "\(order)")
                try judge(bytes, result)
            }
        }
    }

    private func judge(_ bytes: [UInt8], _ result: ImportResult) throws {
        let folder = CaptureFolder()
        put(bytes, at: folder.file("a.pcapng"))
        #expect(try result.counts.notifications == Tshark.notifications(folder.file("a.pcapng")))
    }

    @Test(
        "dates and times that no clock tells end in an error or in a trace that reads",
        arguments: ["9026-08-31", "0000-01-01", "1969-12-31", "2255-03-01", "2256-01-01"])
    func dates(date: String) throws {
        let value = "Notification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 00-3C\n"
        for time in ["23:59:59.999", "00:00:00.000", "1:02:8999999999.999"] {
            let text = "nRF Connect, \(date)\nI\t23:00:00.000\t\(value)I\t\(time)\t\(value)"
            try end(Array(text.utf8), "\(date) \(time)")
        }
    }

    @Test("where time runs back it stands still, which is said once")
    func timeBackwards() throws {
        var writer = BtsnoopWriter(.h4)
        let start: Int64 = 1_795_000_000_000_000
        for (number, packet) in MadeStrap.hci.enumerated() {
            let time = WallTime(microseconds: start + Int64(number % 10) * 1_000_000)
            writer.add(packet.bytes, flags: packet.isReceived ? 1 : 0, at: time)
        }
        let result = try TraceImport.run(writer.bytes)
        MadeStrap.expectAll(result, "backwards")
        #expect(result.warnings.count { $0.contains("runs back") } == 1)
        #expect(result.operations.map(\.offset) == result.operations.map(\.offset).sorted())
    }

    @Test("records that Android shortened are said, and not decoded")
    func shortened() throws {
        var bytes = PackedTests.btsnoop
        let last = bytes.count - (24 + 7)
        bytes[last + 3] += 1
        let result = try TraceImport.run(bytes)
        #expect(result.warnings.count { $0.contains("shortened") && $0.contains("at byte \(last)") } == 1)
        #expect(result.operations.last?.kind != .disconnected(reason: "remote-user", folded: 0))
    }
}
