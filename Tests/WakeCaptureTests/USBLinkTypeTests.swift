// USB captures of every link type, made by the tools of Wireshark of transfers of our own, and judged by tshark.
import TestBench
import Testing
import WakeModel

@testable import WakeCapture

/// A mouse that also speaks in lines: its descriptors, as the host asks for them, then its reports and its lines.
private enum MadeMouse {
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

extension UInt32 {
    fileprivate var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> UInt32($0 * 8)) } }
}

extension MadeMouse.Step {
    private var inProgress: UInt32 { UInt32(bitPattern: -115) }

    /// As usbmon records it: device 5 of bus 1.
    func linux(header: Int) -> [UInt8] {
        let flags: [UInt8] = [setup.isEmpty ? UInt8(ascii: "-") : 0, data.isEmpty ? UInt8(ascii: "<") : 0]
        var bytes: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, isCompletion ? UInt8(ascii: "C") : UInt8(ascii: "S")]
        bytes += [transfer.rawValue, endpoint, 5, 1, 0] + flags + [UInt8](repeating: 0, count: 12)
        bytes += (isCompletion ? 0 : inProgress).littleEndianBytes
        bytes += UInt32(data.count).littleEndianBytes + UInt32(data.count).littleEndianBytes
        bytes += setup + [UInt8](repeating: 0, count: header - 40 - setup.count)
        return bytes + data
    }

    /// As USBPcap records it on Windows. A control transfer has a stage: 0 asks, 3 is complete.
    var usbPcap: [UInt8] {
        let stage: [UInt8] = transfer == .control ? [isCompletion ? 3 : 0] : []
        let body = setup + data
        var bytes: [UInt8] = [UInt8(27 + stage.count), 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes += [transfer == .control ? 0x0b : 0x09, 0, isCompletion ? 1 : 0, 1, 0, 5, 0]
        bytes += [endpoint, transfer.rawValue] + UInt32(body.count).littleEndianBytes + stage
        return bytes + body
    }
}

@Suite("Link types of USB", .enabled(if: Tshark.isInstalled, Tshark.missing)) struct USBLinkTypeTests {
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

    private func expectAll(_ packets: [[UInt8]], link: Int, pcapng: Bool) throws {
        let file = folder.file("\(link).\(pcapng ? "pcapng" : "pcap")")
        try Tshark.capture(packets, link: link, at: file, pcapng: pcapng)
        let result = try TraceImport.run(bytes(of: file))
        #expect(result.warnings.isEmpty, "link type \(link)")
        let data = result.operations.compactMap { operation -> (channel: Channel, bytes: [UInt8])? in
            guard case .data(let channel, let bytes) = operation.kind else { return nil }
            return (channel, bytes)
        }
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
