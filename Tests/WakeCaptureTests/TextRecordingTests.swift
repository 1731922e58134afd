// Recordings that are text, and PacketLogger: small ones, as their programs write them.
import TestBench
import Testing
import WakeModel

@testable import WakeCapture

private func told(_ text: String, _ terms: ImportTerms = ImportTerms()) throws -> [String] {
    let result = try TraceImport.run(Array(text.utf8), terms)
    return lines(of: result)
}

/// Offset in milliseconds, device, and what it did.
private func lines(of result: ImportResult) -> [String] {
    result.operations.map { operation in
        guard case .device(let place, let kind) = operation.subject else { return "" }
        let time = operation.offset.wholeMilliseconds
        switch kind {
        case .connected: return "\(time) \(place) connect"
        case .disconnected(let reason, _): return "\(time) \(place) disconnect \(reason)"
        case .data(let channel, let bytes): return "\(time) \(place) \(channel.wireName.text) \(bytes.hexadecimal)"
        case .gap, .attention, .occasion: return ""
        }
    }
}

@Suite("Recordings of text") struct TextRecordingTests {
    @Test("libinput record: the batches of two devices stand in order of time, and hidden keys are said")
    func libinput() throws {
        let text = """
            # libinput record
            version: 1
            ndevices: 2
            libinput:
              version: "1.22.1"
            devices:
            - node: /dev/input/event3
              evdev:
                # Name: One
                name: "One"
                id: [3, 1133, 49948, 273]
              events:
              # Current time is 10:00:00
              - evdev:
                - [  5, 100000,   1,  30,       1] # EV_KEY / KEY_A                     1
                - [  5, 100000,   0,   0,       0] # ------------ SYN_REPORT (0) ----------
              - evdev:
                - [  5, 300000,   1,  30,       0] # EV_KEY / KEY_A                     0
                - [  5, 300000,   0,   0,       0] # ------------ SYN_REPORT (0) ----------
            - node: /dev/input/event4
              evdev:
                name: "Two"
                id: [3, 1133, 16500, 273]
              events:
              - evdev:
                - [  5, 200000,   2,   0,      -7] # EV_REL / REL_X                    -7
                - [  5, 200000,   0,   0,       0] # ------------ SYN_REPORT (0) ----------
              - evdev:
                - [  5, 400000,   2,   0,       1] # EV_REL / REL_X                     1

            """
        let result = try TraceImport.run(Array(text.utf8))
        #expect(
            lines(of: result).filter { !$0.contains("connect") } == [
                "0 0 input 01001e0001000000", "100 1 input 02000000f9ffffff", "200 0 input 01001e0000000000",
            ])
        #expect(result.header.devices.map(\.name) == ["One", "Two"])
        #expect(result.header.devices[0].address.hasPrefix("046d:c31c:"))
        #expect(result.warnings.contains { $0.contains("KEY_A") })
        #expect(result.warnings.contains { $0.contains("inside a batch") })
    }

    @Test("the log of nRF Connect: values once, over midnight, with the device's name")
    func nrfConnect() throws {
        let text = """
            nRF Connect, 2026-08-31
            Strap (C0:F1:F2:F3:F4:01)
            V\t23:59:58.000\tConnecting to C0:F1:F2:F3:F4:01...
            I\t23:59:58.500\tConnected to C0:F1:F2:F3:F4:01
            I\t23:59:59.500\tNotification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 00-3C
            A\t23:59:59.501\t"Heart Rate Measurement: 60 bpm" received
            I\t00:00:00.500\tIndication received from 00002a1c-0000-1000-8000-00805f9b34fb, value: (0x) 00-01-02
            I\t00:00:01.000\tDisconnected

            """
        let result = try TraceImport.run(Array(text.utf8))
        #expect(
            lines(of: result) == [
                "500 0 connect", "1500 0 2a37 003c", "2500 0 2a1c 000102", "3000 0 disconnect unspecified",
            ])
        #expect(result.header.start.rfc3339 == "2026-08-31T23:59:58.000000Z")
        #expect(result.header.devices.map(\.name) == ["Strap"])
        #expect(result.counts.notifications == 1 && result.counts.indications == 1)
    }

    /// A log with an empty notification, and one that is none.
    private static let log = """
        nRF Connect, 2026-11-21
        Strap (C0:DE:00:00:00:3D)
        V\t08:00:01.100\tConnecting to C0:DE:00:00:00:3D...
        I\t08:00:01.300\tConnected to C0:DE:00:00:00:3D
        I\t08:00:02.000\tNotification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 00-48
        I\t08:00:03.000\tNotification received from 0000fff1-0000-1000-8000-00805f9b34fb, value:\u{20}
        I\t08:00:03.500\tNotification received from 0000fff1-0000-1000-8000-00805f9b34fb, value: soon
        I\t08:00:04.000\tNotification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 00-49
        I\t08:00:05.000\tDisconnected

        """

    @Test(
        "a notification without bytes is one, a line that is none is left out and named, and spaces are as good as tabs",
        arguments: ["\t", " ", "    "])
    func strangeLines(space: String) throws {
        let text = Self.log.replacing("\t", with: space)
        let result = try TraceImport.run(Array(text.utf8))
        #expect(
            lines(of: result) == [
                "200 0 connect", "900 0 2a37 0048", "1900 0 fff1 ", "2900 0 2a37 0049", "3900 0 disconnect unspecified",
            ])
        #expect(result.warnings.count == 1 && result.warnings.allSatisfy { $0.hasSuffix("; line 7 is left out") })
        #expect(result.header.devices.map(\.name) == ["Strap"])
    }

    @Test(
        "a recording of which no line tells anything is a failure, which names its lines",
        arguments: [
            "nRF Connect, 2026-11-21\nStrap (C0:DE:00:00:00:3D)\n08:00:02 Notification\n", "# a\nd 0 /dev/ttyUSB0\n",
            "nRF Connect, 2026-11-21\n\nnothing\n",
        ])
    func nothing(text: String) {
        let error = thrown(ImportError.self) { try TraceImport.run(Array(text.utf8)) }
        let count = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        #expect(
            error?.reason.hasPrefix("of its \(count) lines, 1 to \(count), none has a value") == true,
            "\(String(describing: error))")
    }

    @Test("a line of an input recording that is none costs no other event")
    func strangeEvent() throws {
        let text = """
            # EVEMU 1.3
            N: Pad
            E: 1.000001 0001 001e 1
            E: 1.000001 0000 0000 0
            E: 1.2000
            E: 1.500001 0001 001e 0
            E: 1.500001 0000 0000 0

            """
        let result = try TraceImport.run(Array(text.utf8))
        #expect(result.counts.messages == 2 && result.warnings.contains { $0.hasSuffix("; line 5 is left out") })
    }

    @Test("gatttool: values by their handles at one pace, named where its list names them")
    func gatttool() throws {
        let text = """
            Attempting to connect to C0:F1:F2:F3:F4:01
            \u{1b}[0;94m[C0:F1:F2:F3:F4:01][LE]>\u{1b}[0m characteristics
            handle: 0x0011, char properties: 0x10, char value handle: 0x0012, uuid: 00002a37-0000-1000-8000-00805f9b34fb
            Notification handle = 0x0012 value: 06 3c\u{20}
            Indication   handle = 0x0015 value: 01\u{20}

            """
        var terms = ImportTerms()
        terms.pace.step = .seconds(1)
        #expect(
            try told(text, terms) == [
                "0 0 connect", "1000 0 2a37 063c", "2000 0 00000015-7761-6b65-6272-696467650000 01",
            ])
    }

    @Test("sentences of NMEA are known by their first line, with the carriage return that receivers send and without")
    func lineEnds() throws {
        for end in ["\r\n", "\n"] {
            let text = (0..<3).map { "$GPRMC,07000\($0).000,A,,,,,0.02,31.66,211126,,,A*00\(end)" }.joined()
            let result = try TraceImport.run(Array(text.utf8))
            #expect(result.counts.messages == 3, "\(result.warnings)")
            #expect(result.header.start.rfc3339 == "2026-11-21T07:00:00.000000Z")
        }
    }

    @Test("bluetoothctl: what notifies is a value, and what was read is none, though it prints twice")
    func bluetoothctl() throws {
        let path = "/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service0028/char002c"
        let text = """
            [\u{1}\u{1b}[0;93m\u{2}CHG\u{1}\u{1b}[0m\u{2}] Device C0:F1:F2:F3:F4:01 Connected: yes
            [NEW] Characteristic (Handle 0x2c00)
            \t\(path)
            \t00002a37-0000-1000-8000-00805f9b34fb
            \tHeart Rate Measurement
            [CHG] Attribute \(path) Value:
              06 3c                                            .<
            Attempting to read \(path)
            [CHG] Attribute \(path) Value:
              aa bb                                            ..
              aa bb                                            ..
            [CHG] Attribute \(path) Value:
              00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................
              10                                               .
            [CHG] Device C0:F1:F2:F3:F4:01 Connected: no

            """
        #expect(
            try told(text) == [
                "100 0 connect", "200 0 2a37 063c", "300 0 2a37 000102030405060708090a0b0c0d0e0f10",
                "400 0 disconnect unspecified",
            ])
    }

    @Test("other bytes of a serial line are paced by its speed, as lines where they are text")
    func serial() throws {
        var terms = ImportTerms()
        (terms.isSerial, terms.alias, terms.pace.baud) = (true, "scale", 1_000)
        let result = try TraceImport.run(Array("ST,GS,+0012.5kg\r\nUS,GS,+0013.0kg\r\n".utf8), terms)
        let values = lines(of: result).dropFirst().map { $0.split(separator: " ").last.map(String.init) ?? "" }
        #expect(values == ["ST,GS,+0012.5kg", "US,GS,+0013.0kg"].map { Array($0.utf8).hexadecimal })
        #expect(result.operations.last?.offset == .milliseconds(340))
        #expect(result.header.devices.first?.properties.map(\.value) == ["scale"])
    }

    @Test("USB transfers that umockdev recorded of ioctl are the interrupts of the device")
    func ioctl() throws {
        let text = """
            @DEV /dev/bus/usb/001/003
            USBDEVFS_CONNECTINFO 0 11 0
            USBDEVFS_REAPURB 0 1 129 0 0 4 3 0102FF
            USBDEVFS_REAPURB 0 3 130 0 0 4 4 01020304
            USBDEVFS_REAPURB 0 1 129 -32 0 4 0\u{20}

            """
        #expect(try told(text) == ["0 0 connect", "10 0 report-0 0102ff"])
    }

    @Test("hid-recorder: reports of two devices, between which D: switches")
    func hidDevices() throws {
        let text = """
            D: 0
            R: 5 06 00 ff a1 00
            N: One
            I: 3 056a 0061
            D: 1
            N: Two
            I: 3 046d c05a
            E: 0.000000 2 02 01
            D: 0
            E: 0.500000 3 63 00 01
            D: 1
            E: 1.000000 1 07

            """
        let result = try TraceImport.run(Array(text.utf8))
        let names = result.header.devices.map { $0.name ?? "" }
        let told = lines(of: result).filter { !$0.contains("connect") }.map { line -> String in
            let words = line.split(separator: " ")
            return "\(words[0]) \(names[Int(words[1]) ?? 0]) \(words[3])"
        }
        #expect(told == ["0 Two 0201", "500 One 630001", "1000 Two 07"])
    }

    @Test("evemu of long ago, without a line that says what it is")
    func headerless() throws {
        let text = """
            N: Old pad
            I: 0003 0738 4716 0410
            E: 1.000001 0001 001e 1
            E: 1.000001 0000 0000 0
            E: 2.500001 0001 001e 0
            E: 2.500001 0000 0000 0

            """
        #expect(
            try told(text).filter { !$0.contains("connect") } == [
                "0 0 input 01001e0001000000", "1500 0 input 01001e0000000000",
            ])
    }

    @Test("candump and text of nothing known are refused", arguments: ["hello\nworld\n", "a,b,c\n1,2,3\n"])
    func refused(text: String) {
        #expect(thrown(ImportError.self) { try TraceImport.run(Array(text.utf8)) } != nil)
    }
}

@Suite("PacketLogger") struct PacketLoggerTests {
    /// In one byte order or the other, with a note before the packets.
    static func file(_ order: ByteOrder) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] {
            let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
            return order == .big ? bytes : bytes.reversed()
        }
        var bytes: [UInt8] = []
        func add(_ type: UInt8, _ packet: [UInt8], _ place: Int) {
            bytes += number(UInt32(9 + packet.count)) + number(1_795_000_000) + number(UInt32(place) * 10_000)
            bytes += [type] + packet
        }
        add(0xfc, Array("a note".utf8), 0)
        for (place, packet) in MadeStrap.hci.enumerated() {
            let type: UInt8
            switch packet.bytes[0] {
            case 1: type = 0
            case 4: type = 1
            default: type = packet.isReceived ? 3 : 2
            }
            add(type, Array(packet.bytes.dropFirst()), place)
        }
        return bytes
    }

    @Test(
        "files of both byte orders are read, and as tshark reads them",
        .enabled(if: Tshark.isInstalled, Tshark.missing), arguments: [true, false])
    func orders(isBig: Bool) throws {
        let made = Self.file(isBig ? .big : .little)
        let result = try TraceImport.run(made)
        MadeStrap.expectAll(result, "big: \(isBig)")
        #expect(result.header.start == WallTime(microseconds: 1_795_000_000_000_000))
        let folder = CaptureFolder()
        put(made, at: folder.file("a.pklg"))
        #expect(try result.counts.notifications == Tshark.notifications(folder.file("a.pklg")))
    }
}
