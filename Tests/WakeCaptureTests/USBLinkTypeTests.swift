// USB captures of every link type, made by the tools of Wireshark of transfers of our own, and judged by tshark.
import TestBench
import Testing
import WakeModel

@testable import WakeCapture

/// A mouse that also speaks in lines: its descriptors, as the host asks for them, then its reports and its lines.
enum MadeMouse {
    enum Transfer: UInt8 {
        case interrupt = 1
        case control, bulk
    }

    struct Step {
        var transfer: Transfer
        var endpoint: UInt8
        var isCompletion: Bool
        var setup: [UInt8] = []
        var data: [UInt8] = []
        /// What became of it, as Linux numbers errors.
        var status: Int32 = 0
        /// Whether its data is in the capture, and how much of it there was.
        var hasData = true
        var length: Int?
    }

    static let reports = 20
    static let descriptor: [UInt8] = [
        0x05, 0x01, 0x09, 0x02, 0xa1, 0x01, 0x05, 0x09, 0x15, 0x00, 0x25, 0x01, 0x75, 0x08, 0x95, 0x03, 0x81, 0x02,
        0xc0,
    ]
    private static let device: [UInt8] = [
        18, 1, 0, 2, 0, 0, 0, 8, 0x6d, 0x04, 0x5a, 0xc0, 0, 1, 0, 0, 0, 1,
    ]
    private static let interfaces: [UInt8] =
        [9, 4, 0, 0, 1, 3, 1, 2, 0, 9, 0x21, 0x11, 1, 0, 1, 0x22, UInt8(descriptor.count), 0, 7, 5, 0x81, 3, 4, 0, 10]
        + [9, 4, 1, 0, 1, 0xff, 0, 0, 0, 7, 5, 0x82, 2, 64, 0, 0]
    private static let configuration = [9, 2, UInt8(9 + interfaces.count), 0, 2, 1, 0, 0xa0, 50] + interfaces

    static var steps: [Step] {
        let sent = (0..<reports).flatMap { number in answered(.interrupt, 0x81, [1, UInt8(number), 0]) }
        return asked([0x80, 6, 0, 1, 0, 0, 18, 0], device) + asked([0x80, 6, 0, 2, 0, 0, 255, 0], configuration)
            + asked([0x81, 6, 0, 0x22, 0, 0, UInt8(descriptor.count), 0], descriptor) + sent
            + answered(.bulk, 0x82, Array("first\nsec".utf8)) + answered(.bulk, 0x82, Array("ond\n".utf8))
    }

    private static func asked(_ setup: [UInt8], _ answer: [UInt8]) -> [Step] {
        [
            Step(transfer: .control, endpoint: 0x80, isCompletion: false, setup: setup),
            Step(transfer: .control, endpoint: 0x80, isCompletion: true, data: answer),
        ]
    }

    private static func answered(_ transfer: Transfer, _ endpoint: UInt8, _ data: [UInt8]) -> [Step] {
        [
            Step(transfer: transfer, endpoint: endpoint, isCompletion: false),
            Step(transfer: transfer, endpoint: endpoint, isCompletion: true, data: data),
        ]
    }
}

extension MadeMouse.Step {
    private static let inProgress: Int32 = -115

    /// As usbmon records it, in the order of its machine: device 5 of bus 1.
    func linux(header: Int, _ order: ByteOrder = .little) -> [UInt8] {
        let isThere = hasData && !data.isEmpty
        let flags: [UInt8] = [setup.isEmpty ? UInt8(ascii: "-") : 0, isThere ? 0 : UInt8(ascii: "<")]
        var bytes = made(1, 8, order) + [isCompletion ? UInt8(ascii: "C") : UInt8(ascii: "S"), transfer.rawValue]
        bytes += [endpoint, 5] + made(1, 2, order) + flags + [UInt8](repeating: 0, count: 12)
        bytes += made(UInt64(UInt32(bitPattern: isCompletion ? status : Self.inProgress)), 4, order)
        bytes += made(UInt64(length ?? data.count), 4, order) + made(UInt64(hasData ? data.count : 0), 4, order)
        bytes += setup + [UInt8](repeating: 0, count: header - 40 - setup.count)
        return bytes + (hasData ? data : [])
    }

    /// As USBPcap records it on Windows. A control transfer has a stage: 0 asks, 3 is complete.
    var usbPcap: [UInt8] {
        let stage: [UInt8] = transfer == .control ? [isCompletion ? 3 : 0] : []
        let body = setup + data
        var bytes: [UInt8] = [UInt8(27 + stage.count), 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes += [transfer == .control ? 0x0b : 0x09, 0, isCompletion ? 1 : 0, 1, 0, 5, 0]
        bytes += [endpoint, transfer.rawValue] + made(UInt64(body.count), 4, .little) + stage
        return bytes + body
    }
}

@Suite("Link types of USB", .tags(.outside), .enabled(if: Tshark.isInstalled, Tshark.missing)) struct USBLinkTypeTests {
    private let folder = CaptureFolder()

    @Test("usbmon in both of its forms: reports of a mouse, and the lines that it sends", arguments: [false, true])
    func linux(pcapng: Bool) throws {
        try expectAll(MadeMouse.steps.map { $0.linux(header: 48) }, link: 189, pcapng: pcapng)
        try expectAll(MadeMouse.steps.map { $0.linux(header: 64) }, link: 220, pcapng: pcapng)
    }

    @Test("USBPcap of Windows: the same reports and lines", arguments: [false, true])
    func windows(pcapng: Bool) throws {
        try expectAll(MadeMouse.steps.map(\.usbPcap), link: 249, pcapng: pcapng)
    }

    @Test("usbmon of a machine that writes the highest byte first: the same reports and lines")
    func bigEndian() throws {
        for (link, header) in [(189, 48), (220, 64)] {
            let packets = MadeMouse.steps.map { $0.linux(header: header, .big) }
            let file = folder.file("big-\(link).pcap")
            put(MadePcap.file(packets, link: UInt64(link), .big), at: file)
            try expectAll(in: file, link)
        }
    }

    @Test(
        "a transfer that failed, whose data was not captured, or was captured in part gives no value; the last is said")
    func lost() throws {
        var steps = MadeMouse.steps
        func add(_ data: [UInt8], status: Int32 = 0, hasData: Bool = true, length: Int? = nil) {
            steps.append(
                MadeMouse.Step(
                    transfer: .interrupt, endpoint: 0x81, isCompletion: true, data: data, status: status,
                    hasData: hasData, length: length))
        }
        add([9, 9, 9], status: -32)
        add([9, 9, 9], hasData: false)
        add([9, 9], length: 3)
        add([1, 2, 3])
        let result = try TraceImport.run(MadePcap.file(steps.map { $0.linux(header: 64) }, link: 220, .little))
        let reports = Self.data(result).filter { $0.channel == .report(0) }.map(\.bytes)
        #expect(reports.count == MadeMouse.reports + 1 && reports.last == [1, 2, 3])
        #expect(result.warnings.count { $0.contains("not whole in the capture") } == 1)
    }

    @Test(
        "each interface is the device that a description names for it, whichever speaks first, and a hub is none of them"
    )
    func described() throws {
        let usb = "/devices/pci0/usb1"
        let description = """
            P: \(usb)
            N: bus/usb/001/001
            E: ID_VENDOR_ID=1d6b

            P: \(usb)/1-4
            N: bus/usb/001/005
            E: ID_VENDOR_ID=046d
            E: ID_MODEL_ID=c05a

            P: \(usb)/1-4/1-4:1.1/0003:046D:C05A.0002/hidraw/hidraw1
            N: hidraw1

            P: \(usb)/1-4/1-4:1.0/0003:046D:C05A.0001/hidraw/hidraw0
            N: hidraw0

            """
        let asked = MadeMouse.steps.filter { $0.transfer == .control }
        let said = MadeMouse.steps.filter { $0.transfer != .control }.reversed().filter(\.isCompletion)
        for steps in [asked + said, asked + said.reversed()] {
            var recording = TraceImport()
            try recording.add(HeldBytes(Array(description.utf8)))
            let capture = MadePcap.file(steps.map { $0.linux(header: 64) }, link: 220, .little)
            try recording.add(HeldBytes(capture))
            let imported = try recording.finish()
            let addresses = imported.header.devices.map(\.address)
            #expect(addresses == ["046d:c05a:@hidraw1", "046d:c05a:@hidraw0"])
            #expect(imported.contents.map { $0.map(\.channel) } == [["serial"], ["report-0"]])
        }
    }

    @Test("of a serial line by FTDI, the two bytes of status before each packet are no part of what it said")
    func ftdi() throws {
        var steps = MadeMouse.steps.filter { $0.transfer == .control }
        // Its vendor is the one that the status is known of.
        steps[1].data.replaceSubrange(8..<10, with: [0x03, 0x04])
        let said = (0..<70).map { UInt8(0x30 + $0 % 10) } + Array("\n".utf8)
        let packets = [0x01, 0x60] + said.prefix(62) + [0x01, 0x60] + said.dropFirst(62)
        steps.append(MadeMouse.Step(transfer: .bulk, endpoint: 0x82, isCompletion: true, data: [0x01, 0x60]))
        steps.append(MadeMouse.Step(transfer: .bulk, endpoint: 0x82, isCompletion: true, data: packets))
        let result = try TraceImport.run(MadePcap.file(steps.map { $0.linux(header: 64) }, link: 220, .little))
        #expect(Self.data(result).map(\.bytes) == [Array(said.dropLast())])
        #expect(result.header.devices.first?.address.hasPrefix("0403:") == true)
    }

    private static func data(_ result: ImportResult) -> [(channel: Channel, bytes: [UInt8])] {
        result.operations.compactMap { operation -> (channel: Channel, bytes: [UInt8])? in
            guard case .data(let channel, let bytes) = operation.kind else { return nil }
            return (channel, bytes)
        }
    }

    private func expectAll(_ packets: [[UInt8]], link: Int, pcapng: Bool) throws {
        let file = folder.file("\(link).\(pcapng ? "pcapng" : "pcap")")
        try Tshark.capture(packets, link: link, at: file, pcapng: pcapng)
        try expectAll(in: file, link)
    }

    private func expectAll(in file: String, _ link: Int) throws {
        let result = try TraceImport.run(bytes(of: file))
        #expect(result.warnings.isEmpty, "link type \(link)")
        let data = Self.data(result)
        let reports = data.filter { $0.channel == .report(0) }
        #expect(reports.map(\.bytes) == (0..<MadeMouse.reports).map { [1, UInt8($0), 0] }, "link type \(link)")
        let lines = data.filter { $0.channel == .serial }.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(lines == ["first", "second"], "link type \(link)")
        let mouse = result.header.devices.first { !$0.reportDescriptor.isEmpty }
        #expect(mouse?.reportDescriptor == MadeMouse.descriptor && mouse?.address.hasPrefix("046d:c05a") == true)
        let heard = "usb.endpoint_address.direction == 1 && usb.data_len > 0 && usb.transfer_type == "
        #expect(try Tshark.count(file, heard + "1") == MadeMouse.reports, "link type \(link)")
        #expect(try Tshark.count(file, heard + "3") == 2, "link type \(link)")
    }
}
