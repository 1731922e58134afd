// Captures made for tests: packets of our own, put into files by the tools of Wireshark, which then judge what we read.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeCapture

/// The tools of Wireshark, where they are installed.
enum Tshark {
    static let isInstalled = File.exists("/usr/bin/tshark") && File.exists("/usr/bin/text2pcap")
    static let missing: Comment = "tshark and text2pcap are not installed, so there is no judge"

    /// How many packets of the file fit the filter.
    static func count(_ file: String, _ filter: String) throws -> Int {
        let outcome = try Child(["/usr/bin/tshark", "-r", file, "-Y", filter, "-T", "fields", "-e", "frame.number"])
            .finish()
        #expect(outcome.exit == 0, "\(outcome.talk)")
        return outcome.output.split(separator: "\n").count
    }

    static func notifications(_ file: String) throws -> Int {
        try count(file, "btatt.opcode==0x1b || btatt.opcode==0x23")
    }

    /// Counts both in one run, because tshark spends most of its time starting.
    static func values(_ file: String) throws -> (notifications: Int, indications: Int) {
        let filter = "btatt.opcode==0x1b || btatt.opcode==0x23 || btatt.opcode==0x1d"
        let outcome = try Child(["/usr/bin/tshark", "-r", file, "-Y", filter, "-T", "fields", "-e", "btatt.opcode"])
            .finish()
        #expect(outcome.exit == 0, "\(outcome.talk)")
        let lines = outcome.output.split(separator: "\n")
        return (
            lines.count { $0.contains("0x1b") || $0.contains("0x23") }, lines.count { $0.contains("0x1d") }
        )
    }

    static func run(_ words: [String]) throws {
        let outcome = try Child(words).finish()
        #expect(outcome.exit == 0, "\(words): \(outcome.talk)")
    }

    /// A link type before whose packets Wireshark puts nothing of its own, as it does for 201 and 254.
    private static let plainLink: UInt8 = 147

    /// A capture of the packets as text2pcap writes it, then with the link type.
    /// - Parameter times: of each packet in microseconds since the first; every 10 ms if not given.
    static func capture(_ packets: [[UInt8]], link: Int, at path: String, pcapng: Bool, times: [Int]? = nil) throws {
        var text = ""
        for (number, packet) in packets.enumerated() {
            let time = times?[number] ?? number * 10_000
            let micros = String(time % 1_000_000 + 1_000_000).dropFirst()
            text += "2026-11-21 07:42:\(10 + time / 1_000_000).\(micros)\n0000 "
            text += packet.map { [$0].hexadecimal }.joined(separator: " ") + "\n\n"
        }
        put(text, at: path + ".txt")
        let form = pcapng ? ["-n"] : ["-F", "pcap"]
        try run(
            ["/usr/bin/text2pcap", "-q"] + form
                + ["-l", "\(plainLink)", "-t", "%Y-%m-%d %H:%M:%S.%f", path + ".txt", path])
        try setLink(link, at: path, pcapng: pcapng)
    }

    /// In pcap the link type stands in the header; in pcapng in the first interface, behind the section's block.
    private static func setLink(_ link: Int, at path: String, pcapng: Bool) throws {
        var file = bytes(of: path)
        let place = pcapng ? file[...].number(4, 4, .little).map { Int($0) + 8 } ?? 0 : 20
        try #require(file[...].number(place, 2, .little) == UInt64(plainLink))
        file.replaceSubrange(place..<(place + 2), with: UInt16(link).littleEndianBytes)
        put(file, at: path)
    }
}

/// A folder for one test.
final class CaptureFolder {
    let path: String

    init() { path = makeDirectory("/tmp/captures-XXXXXX") }
    deinit { Directory.removeTree(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// A pcap file of our own, for what the tools of Wireshark do not write: the order of a machine with the highest byte first.
enum MadePcap {
    static func file(_ packets: [[UInt8]], link: UInt64, _ order: ByteOrder) -> [UInt8] {
        func number(_ value: UInt64, _ count: Int) -> [UInt8] { made(value, count, order) }
        var bytes = number(0xa1b2_c3d4, 4) + number(2, 2) + number(4, 2) + number(0, 8)
        bytes += number(262_144, 4) + number(link, 4)
        for (place, packet) in packets.enumerated() {
            bytes += number(1_795_000_000, 4) + number(UInt64(place) * 1000, 4)
            bytes += number(UInt64(packet.count), 4) + number(UInt64(packet.count), 4) + packet
        }
        return bytes
    }
}

/// A number as a file of that order has it.
func made(_ value: UInt64, _ count: Int, _ order: ByteOrder) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    return order == .little ? bytes : bytes.reversed()
}

/// The packets of a strap that connects, is discovered, and sends 40 values of which the last is an indication.
enum MadeStrap {
    static let address: [UInt8] = [0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0]
    static let values = 40

    /// ATT units, with whether the strap sends each.
    static var units: [(isReceived: Bool, bytes: [UInt8])] {
        let question: [UInt8] = [0x08, 0x01, 0x00, 0xff, 0xff, 0x03, 0x28]
        let answer: [UInt8] = [0x09, 0x07, 0x02, 0x00, 0x10, 0x03, 0x00, 0x37, 0x2a]
        let sent = (0..<values).map { number -> [UInt8] in
            [number == values - 1 ? 0x1d : 0x1b, 0x03, 0x00, 0x00, UInt8(60 + number)]
        }
        return [(false, question), (true, answer)] + sent.map { (true, $0) }
    }

    static func frame(_ unit: [UInt8]) -> [UInt8] { [UInt8(unit.count), 0, 4, 0] + unit }

    /// HCI with its kind before it, and whether the host received it.
    static var hci: [(isReceived: Bool, bytes: [UInt8])] {
        let connected: [UInt8] = [0x04, 0x3e, 0x13, 0x01, 0, 0x40, 0, 0, 1] + address + [0x18, 0, 0, 0, 0x2a, 0, 0]
        let data = units.map { unit -> (isReceived: Bool, bytes: [UInt8]) in
            let frame = frame(unit.bytes)
            return (unit.isReceived, [0x02, 0x40, unit.isReceived ? 0x20 : 0x00, UInt8(frame.count), 0] + frame)
        }
        return [(false, [0x01, 0x03, 0x0c, 0x00]), (true, connected)] + data + [
            (true, [0x04, 0x05, 4, 0, 0x40, 0, 0x13])
        ]
    }

    /// What everyone may have seen of it: connect, 40 values of 2a37, disconnect.
    static func expectAll(_ result: ImportResult, _ about: String) {
        #expect(result.counts.notifications == values - 1, "\(about)")
        #expect(result.counts.indications == 1, "\(about)")
        #expect(result.header.devices.map(\.address) == ["C0:F1:F2:F3:F4:01"], "\(about)")
        let data = result.operations.compactMap { operation -> [UInt8]? in
            guard case .data(let channel, let bytes) = operation.kind, channel != .advertisement else { return nil }
            #expect(channel == .characteristic(BluetoothUUID(short: 0x2a37)), "\(about)")
            return bytes
        }
        #expect(data == (0..<values).map { [0x00, UInt8(60 + $0)] }, "\(about)")
    }
}

/// Its packets as they pass over the air, with checks that fit.
enum MadeAir {
    static let access: [UInt8] = [0x12, 0x34, 0x56, 0x78]
    static let seed: UInt32 = 0x123456

    /// The check over the air, from the polynomial of the specification, bit by bit.
    static func check(_ bytes: [UInt8], _ seed: UInt32) -> [UInt8] {
        var register = (0..<24).map { seed >> UInt32($0) & 1 }
        for byte in bytes {
            for bit in 0..<8 {
                let feedback = register[23] ^ UInt32(byte >> UInt8(bit)) & 1
                register = [feedback] + register.dropLast()
                for tap in [1, 3, 4, 6, 9, 10] { register[tap] ^= feedback }
            }
        }
        let sent = Array(register.reversed())
        return (0..<3).map { byte in (0..<8).reduce(UInt8(0)) { $0 | UInt8(sent[byte * 8 + $1]) << UInt8($1) } }
    }

    static func packet(_ access: [UInt8], _ seed: UInt32, _ unit: [UInt8]) -> [UInt8] {
        access + unit + check(unit, seed)
    }

    /// Address, units and direction: an advertisement, CONNECT_IND, then data in which each packet is confirmed.
    static var packets: [(isToPeripheral: Bool, bytes: [UInt8])] {
        let advertising: [UInt8] = [0xd6, 0xbe, 0x89, 0x8e]
        let data: [UInt8] = [0x02, 0x01, 0x06, 0x05, 0x09, 0x48, 0x31, 0x30, 0x21]
        let advertisement = [0x40, UInt8(6 + data.count)] + MadeStrap.address + data
        let beginning: [UInt8] = [0x56, 0x34, 0x12, 2, 0, 0, 0x18, 0, 0, 0, 0x2a, 0, 0xff, 0xff, 0xff, 0xff, 0x1f, 5]
        let connect: [UInt8] = [0xc5, 34] + [9, 9, 9, 9, 9, 0xc9] + MadeStrap.address + access + beginning
        var made = [
            (true, packet(advertising, 0x55_5555, advertisement)), (true, packet(advertising, 0x55_5555, connect)),
        ]
        var sequence: [Bool: UInt8] = [true: 0, false: 0]
        func add(_ isToPeripheral: Bool, _ kind: UInt8, _ payload: [UInt8]) {
            let header = kind | (sequence[isToPeripheral] ?? 0) << 3
            sequence[isToPeripheral]? ^= 1
            made.append((isToPeripheral, packet(access, seed, [header, UInt8(payload.count)] + payload)))
        }
        for unit in MadeStrap.units {
            let frame = MadeStrap.frame(unit.bytes)
            if unit.isReceived { add(true, 1, []) }
            add(!unit.isReceived, 2, Array(frame.prefix(6)))
            if frame.count > 6 {
                add(unit.isReceived, 1, [])
                add(!unit.isReceived, 1, Array(frame.dropFirst(6)))
            }
            if !unit.isReceived { add(false, 1, []) }
        }
        add(true, 3, [0x02, 0x13])
        return made
    }

    /// When each passes, in microseconds: what the strap answers begins 150 µs after the question has ended.
    static var times: [Int] {
        var (times, now) = ([Int](), 0)
        for (place, packet) in packets.enumerated() {
            if place > 0 {
                let airTime = (1 + packets[place - 1].bytes.count) * 8
                now += packet.isToPeripheral ? 7_500 : airTime + 150
            }
            times.append(now)
        }
        return times
    }
}
