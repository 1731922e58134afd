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
    static func nordic(_ packet: (isToPeripheral: Bool, bytes: [UInt8])) -> [UInt8] { nordic(packet, more: 0) }

    /// - Parameter more: flags, 4 for encrypted and 8 for decrypted well.
    static func nordic(_ packet: (isToPeripheral: Bool, bytes: [UInt8]), more: UInt8) -> [UInt8] {
        let length = UInt16(10 + packet.bytes.count).littleEndianBytes
        return [0] + length + [2, 0, 0, 6] + nordicHead(packet.isToPeripheral, more) + packet.bytes
    }

    /// In its first version: the length of the board's header, and that of what follows in one byte.
    static func oldNordic(_ packet: (isToPeripheral: Bool, bytes: [UInt8])) -> [UInt8] {
        [0, 6, UInt8(10 + packet.bytes.count), 1, 0, 0, 6] + nordicHead(packet.isToPeripheral, 0) + packet.bytes
    }

    private static func nordicHead(_ isToPeripheral: Bool, _ more: UInt8) -> [UInt8] {
        [10, (isToPeripheral ? 3 : 1) | more, 37, 50, 0, 0, 150, 0, 0, 0]
    }

    /// Said to have been encrypted, and to be readable.
    static func decrypted(_ packet: (isToPeripheral: Bool, bytes: [UInt8])) -> [UInt8] {
        var bytes = heard(packet)
        bytes[8] |= 0x08
        return bytes
    }
}

@Suite("Link types", .tags(.outside), .enabled(if: Tshark.isInstalled, Tshark.missing)) struct LinkTypeTests {
    private let folder = CaptureFolder()

    private func expectAll(_ packets: [[UInt8]], link: Int, pcapng: Bool, times: [Int]? = nil) throws {
        let file = folder.file("\(link).\(pcapng ? "pcapng" : "pcap")")
        try Tshark.capture(packets, link: link, at: file, pcapng: pcapng, times: times)
        try expectAll(in: file, link)
    }

    private func expectAll(in file: String, _ link: Int) throws {
        let result = try TraceImport.run(bytes(of: file))
        MadeStrap.expectAll(result, "link type \(link)")
        let values = try Tshark.values(file)
        #expect(result.counts.notifications == values.notifications, "link type \(link)")
        #expect(result.counts.indications == values.indications, "link type \(link)")
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
        try expectAll(MadeAir.packets.map { Wrapping.nordic($0) }, link: 272, pcapng: true)
        try expectAll(MadeAir.packets.map(Wrapping.oldNordic), link: 272, pcapng: false)
        let perPacket = MadeAir.packets.map { [0, 0, 8, 0, 0xfb, 0, 0, 0] + $0.bytes }
        try expectAll(perPacket, link: 192, pcapng: false, times: MadeAir.times)
    }

    @Test("captures of earlier nRF Sniffers are read under their number, and others of that number are refused by it")
    func earlyNordic() throws {
        for packets in [MadeAir.packets.map(Wrapping.oldNordic), MadeAir.packets.map { Wrapping.nordic($0) }] {
            MadeStrap.expectAll(try TraceImport.run(MadePcap.file(packets, link: 157, .little)), "link type 157")
        }
        let others = MadePcap.file([[9, 9, 9, 9, 9, 9, 9, 9]], link: 157, .little)
        let error = thrown(ImportError.self) { try TraceImport.run(others) }
        #expect(error?.reason.contains("link type 157, which is not known") == true, "\(String(describing: error))")
        #expect(try TraceImport.run(MadePcap.file([], link: 157, .little)).counts.records == 0)
    }

    @Test("where a capture of the air tells no directions, they are known by what follows within 150 µs")
    func plainAir() throws {
        for pcapng in [false, true] {
            try expectAll(MadeAir.packets.map(\.bytes), link: 251, pcapng: pcapng, times: MadeAir.times)
        }
    }

    @Test("files of a machine that writes the highest byte first are read, and as tshark reads them")
    func bigEndian() throws {
        let file = folder.file("big.pcap")
        put(MadePcap.file(MadeStrap.hci.map(Wrapping.directed), link: 201, .big), at: file)
        try expectAll(in: file, 201)
    }

    @Test("flags about checksums above a pcap's link type are no part of it")
    func flagged() throws {
        for flags: UInt64 in [0x0400_0000, 0x1400_0000, 0xf400_0000] {
            let packets = MadeStrap.hci.map(Wrapping.directed)
            let result = try TraceImport.run(MadePcap.file(packets, link: 201 | flags, .little))
            MadeStrap.expectAll(result, "flags \(flags)")
        }
    }

    @Test("btsnoop whose packets have no byte for their kind is read, and as tshark reads it")
    func unencapsulated() throws {
        var writer = BtsnoopWriter(.unencapsulated)
        for (place, packet) in MadeStrap.hci.enumerated() {
            let flags: UInt32 = (packet.isReceived ? 1 : 0) | (packet.bytes[0] == 2 ? 0 : 2)
            let time = WallTime(microseconds: 1_795_000_000_000_000 + Int64(place) * 1000)
            writer.add(packet.bytes.dropFirst(), flags: flags, at: time)
        }
        let file = folder.file("1001.btsnoop")
        put(writer.bytes, at: file)
        try expectAll(in: file, 1001)
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

    @Test("what a sniffer has decrypted is read, and what it says is encrypted is not")
    func decrypted() throws {
        try expectAll(MadeAir.packets.map(Wrapping.decrypted), link: 256, pcapng: false)
        try expectAll(MadeAir.packets.map { Wrapping.nordic($0, more: 12) }, link: 272, pcapng: true)
        let file = folder.file("encrypted-272.pcap")
        let begin = MadeAir.packets.prefix(2).map { Wrapping.nordic($0) }
        let hidden = MadeAir.packets.dropFirst(2).map { Wrapping.nordic($0, more: 4) }
        try Tshark.capture(begin + hidden, link: 272, at: file, pcapng: false)
        let result = try TraceImport.run(bytes(of: file))
        #expect(result.warnings.count { $0.contains("encrypted") } == 1 && result.counts.notifications == 0)
    }

    @Test("an unknown link type is an error that names it, and the offset")
    func unknown() throws {
        let file = folder.file("ethernet.pcap")
        try Tshark.capture([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0]], link: 1, at: file, pcapng: false)
        let error = thrown(ImportError.self) { try TraceImport.run(bytes(of: file)) }
        #expect(error?.offset == 20 && error?.reason.contains("link type 1 ") == true, "\(error?.description ?? "")")
        let next = folder.file("ethernet.pcapng")
        try Tshark.run(["/usr/bin/editcap", "-F", "pcapng", file, next])
        let other = thrown(ImportError.self) { try TraceImport.run(bytes(of: next)) }
        #expect(
            (other?.offset ?? 0) > 0 && other?.reason.contains("link type 1,") == true, "\(other?.description ?? "")")
    }

    @Test("what a capture holds of unknown link types beside others is left out, with a sentence and an offset")
    func mixed() throws {
        let (strap, strange, both) = (folder.file("201.pcap"), folder.file("1.pcap"), folder.file("both.pcapng"))
        try Tshark.capture(MadeStrap.hci.map(Wrapping.directed), link: 201, at: strap, pcapng: false)
        try Tshark.capture([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0]], link: 1, at: strange, pcapng: false)
        try Tshark.run(["/usr/bin/mergecap", "-F", "pcapng", "-w", both, strap, strange])
        let result = try TraceImport.run(bytes(of: both))
        MadeStrap.expectAll(result, "mixed")
        #expect(result.warnings.count { $0.contains("left out: 1 packet of link type 1,") && $0.contains("byte") } == 1)
    }

    @Test(
        "a capture says the same in every container that editcap writes",
        .enabled(unless: DeviceCaptures.hindrance),
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
