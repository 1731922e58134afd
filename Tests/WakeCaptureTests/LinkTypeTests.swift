// Captures of every link type, made by the tools of Wireshark of packets of our own, and judged by tshark.
import TestBench
import Testing
import WakeModel

@testable import WakeCapture

/// What stands before each packet in a capture of one link type.
private enum Wrapping {
    static func directed(_ packet: (isReceived: Bool, bytes: [UInt8])) -> [UInt8] {
        [0, 0, 0, packet.isReceived ? 1 : 0] + packet.bytes
    }

    /// Adapter 0 and the monitor's opcode, in place of the kind.
    static func monitor(_ packet: (isReceived: Bool, bytes: [UInt8])) -> [UInt8] {
        let opcode: UInt8
        switch packet.bytes[0] {
        case 1: opcode = 2
        case 4: opcode = 3
        default: opcode = packet.isReceived ? 5 : 4
        }
        return [0, 0, 0, opcode] + packet.bytes.dropFirst()
    }

    /// Channel 37, dewhitened, the check made and found good, and the direction of data.
    static func heard(_ packet: (isToPeripheral: Bool, bytes: [UInt8]), isGood: Bool = true) -> [UInt8] {
        let isData = packet.bytes[0] != 0xd6
        let kind: UInt16 = !isData ? 0 : packet.isToPeripheral ? 2 << 7 : 3 << 7
        let flags = 0x0001 | 0x0010 | 0x0400 | (isGood ? 0x0800 : 0) | kind
        return [37, 0, 0, 0] + packet.bytes.prefix(4) + flags.littleEndianBytes + packet.bytes
    }

    /// nRF Sniffer in its second version: the length of what follows in two bytes.
    static func nordic(_ packet: (isToPeripheral: Bool, bytes: [UInt8])) -> [UInt8] {
        let length = UInt16(10 + packet.bytes.count).littleEndianBytes
        let head: [UInt8] = [10, packet.isToPeripheral ? 3 : 1, 37, 50, 0, 0, 150, 0, 0, 0]
        return [0] + length + [2, 0, 0, 6] + head + packet.bytes
    }
}

@Suite("Link types", .enabled(if: Tshark.isInstalled, Tshark.missing)) struct LinkTypeTests {
    private let folder = CaptureFolder()

    private func expectAll(_ packets: [[UInt8]], link: Int, pcapng: Bool) throws {
        let file = folder.file("\(link).\(pcapng ? "pcapng" : "pcap")")
        try Tshark.capture(packets, link: link, at: file, pcapng: pcapng)
        let result = try TraceImport.run(bytes(of: file))
        MadeStrap.expectAll(result, "link type \(link)")
        #expect(try result.counts.notifications == Tshark.notifications(file), "link type \(link)")
        #expect(try result.counts.indications == Tshark.indications(file), "link type \(link)")
    }

    @Test("HCI with a direction, without one, and of the Linux monitor", arguments: [false, true])
    func controllers(pcapng: Bool) throws {
        try expectAll(MadeStrap.hci.map(Wrapping.directed), link: 201, pcapng: pcapng)
        try expectAll(MadeStrap.hci.map(\.bytes), link: 187, pcapng: pcapng)
        try expectAll(MadeStrap.hci.map(Wrapping.monitor), link: 254, pcapng: pcapng)
    }

    @Test("a capture whose directions are written the other way round is read as its commands and events tell")
    func reversed() throws {
        let packets = MadeStrap.hci.map { Wrapping.directed((!$0.isReceived, $0.bytes)) }
        let file = folder.file("reversed.pcap")
        try Tshark.capture(packets, link: 201, at: file, pcapng: false)
        MadeStrap.expectAll(try TraceImport.run(bytes(of: file)), "reversed")
    }

    @Test("Bluetooth LE over the air: heard with flags, by the nRF Sniffer, and behind a header each")
    func air() throws {
        try expectAll(MadeAir.packets.map { Wrapping.heard($0) }, link: 256, pcapng: false)
        try expectAll(MadeAir.packets.map(Wrapping.nordic), link: 272, pcapng: true)
        let perPacket = MadeAir.packets.map { [0, 0, 8, 0, 0xfb, 0, 0, 0] + $0.bytes }
        let file = folder.file("ppi.pcap")
        try Tshark.capture(perPacket, link: 192, at: file, pcapng: false)
        #expect(try TraceImport.run(bytes(of: file)).counts.links == 1)
    }

    @Test("what a device broadcasts over the air becomes an advertisement, and gives it its name")
    func broadcasts() throws {
        let file = folder.file("256.pcap")
        try Tshark.capture(MadeAir.packets.map { Wrapping.heard($0) }, link: 256, at: file, pcapng: false)
        let result = try TraceImport.run(bytes(of: file))
        #expect(result.counts.advertisements == 1)
        #expect(result.header.devices.first?.name == "H10!")
        #expect(result.operations.first?.kind == .data(.advertisement, [2, 1, 6, 5, 9, 0x48, 0x31, 0x30, 0x21]))
    }

    @Test("packets that came damaged, or twice, are dropped")
    func dropped() throws {
        let packets = MadeAir.packets
        let spoilt = packets.flatMap { [Wrapping.heard($0, isGood: false), Wrapping.heard($0), Wrapping.heard($0)] }
        let file = folder.file("spoilt.pcap")
        // Only data is sent again; the two advertisements here are two.
        try Tshark.capture(
            spoilt.enumerated().filter { $0.offset > 5 || $0.offset % 3 == 1 }.map(\.element), link: 256, at: file,
            pcapng: false)
        let result = try TraceImport.run(bytes(of: file))
        MadeStrap.expectAll(result, "spoilt")
        #expect(result.counts.dropped > packets.count)
    }

    @Test("an encrypted link is said so, once, and nothing of it is made up")
    func encrypted() throws {
        var packets = Array(MadeAir.packets.prefix(2))
        packets.append((false, MadeAir.packet(MadeAir.access, MadeAir.seed, [3, 1, 5])))
        for number in 0..<6 {
            let unit: [UInt8] = [UInt8(2 | (number & 1) << 3), 4, UInt8(number), 7, 7, 7]
            packets.append((false, MadeAir.packet(MadeAir.access, MadeAir.seed, unit)))
        }
        let file = folder.file("encrypted.pcap")
        try Tshark.capture(packets.map { Wrapping.heard($0) }, link: 256, at: file, pcapng: false)
        let result = try TraceImport.run(bytes(of: file))
        #expect(result.warnings.count { $0.contains("encrypted") } == 1)
        #expect(result.counts.notifications == 0)
    }

    @Test("an unknown link type is an error that names it, and the offset")
    func unknown() throws {
        let file = folder.file("ethernet.pcap")
        try Tshark.capture([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0]], link: 1, at: file, pcapng: false)
        let error = thrown(ImportError.self) { try TraceImport.run(bytes(of: file)) }
        #expect(error?.offset == 20 && error?.reason.contains("link type 1 ") == true, "\(error?.description ?? "")")
    }

    @Test(
        "a capture says the same in every container that editcap writes",
        .enabled(if: DeviceCaptures.exist, DeviceCaptures.missing),
        arguments: ["pcap", "nsecpcap", "pcapng", "btsnoop"])
    func containers(form: String) throws {
        let file = folder.file("horizon.\(form)")
        try Tshark.run(["/usr/bin/editcap", "-F", form, DeviceCaptures.btsnoop("horizon-treadmill"), file])
        let (one, other) = (
            try TraceImport.run(bytes(of: DeviceCaptures.btsnoop("horizon-treadmill"))),
            try TraceImport.run(bytes(of: file))
        )
        #expect(one.counts.notifications == other.counts.notifications)
        #expect(one.operations.map(\.kind) == other.operations.map(\.kind))
        #expect(one.operations.map(\.offset) == other.operations.map(\.offset))
    }
}
