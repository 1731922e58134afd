// hidraw and evdev nodes, recorded and made, emulated: the reader opens them as the bridge would on a real device.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "The nodes of recorded devices", .timeLimit(.minutes(1)),
    .enabled(if: Emulation.isPossible && DeviceCaptures.exist, "needs umockdev-run (package umockdev) and the captures")
)
struct RecordedNodeTests {
    private let folder = "\(DeviceCaptures.folder)/usb"

    @Test("a keyboard's events come whole, in order and with the values that were recorded, and what is held is known")
    func keyboard() throws {
        let directory = makeDirectory("/tmp/wakebridge-node.XXXXXX")
        defer { Directory.removeTree(directory) }
        // The recording asked with other lengths, which the kernel accepts, and not for what is down: A is, and a light is on.
        let recordedAnswers = lines(of: "\(folder)/usbkbd.evtest.ioctl").map(Self.resized)
        let answers = recordedAnswers + ["EVIOCGKEY(0) 96 \(bits([30], 96))", "EVIOCGLED(0) 96 \(bits([1], 96))"]
        put(answers.map { $0 + "\n" }.joined(), at: "\(directory)/answers")
        let script = "\(folder)/usbkbd.evtest.script.64"
        let lines = try Emulation(
            node: "/dev/input/event5", device: "\(folder)/usbkbd.umockdev", answers: "\(directory)/answers",
            script: script
        ).read("input")
        #expect(lines.first == "state [30] [] [1]")
        let recorded = EmulationScript(bytes(of: script)).read.flatMap { $0 }
        let events = stride(from: 0, to: recorded.count, by: 24).map { place in
            let value = recorded[place + 20..<place + 24].reversed().reduce(Int32(0)) { $0 << 8 | Int32($1) }
            return "event \(recorded[place + 16]) \(recorded[place + 18]) \(value)"
        }
        #expect(events.count > 10 && lines.filter { $0.hasPrefix("event") } == events)
    }

    /// The same bits in 96 bytes.
    private static func resized(_ line: String) -> String {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0].hasPrefix("EVIOCGBIT") else { return line }
        let hex = words[2] + String(repeating: "0", count: 192)
        return "\(words[0]) 96 \(hex.prefix(192))"
    }

    @Test("a security key takes a report and answers with reports of 64 bytes without numbers")
    func securityKey() throws {
        let script = EmulationScript(bytes(of: "\(folder)/fido2.script"))
        let lines = try Emulation(
            node: "/dev/hidraw5", device: "\(folder)/fido2.umockdev", answers: "\(folder)/fido2.ioctl",
            script: "\(folder)/fido2.script"
        ).read("hid", try #require(script.written.first).hexadecimal)
        #expect(lines.first == "numbers false [] sound")
        #expect(lines.dropFirst().first == "wrote wrote(65)")
        let answer = try #require(script.read.first)
        #expect(lines.dropFirst(2).first == "report 0 " + answer.hexadecimal)
    }
}

@Suite(
    "The nodes of made devices", .timeLimit(.minutes(1)),
    .enabled(if: Emulation.isPossible, "needs umockdev-run (package umockdev)"))
final class MadeNodeTests {
    private let directory = makeDirectory("/tmp/wakebridge-node.XXXXXX")

    deinit { Directory.removeTree(directory) }

    @Test("a pad's keys, switches, lights, axes and contacts are read as they stand, from the types it has")
    func standing() throws {
        let answers = [
            "EVIOCGVERSION 0 01000100", "EVIOCGBIT(0) 96 \(bits([0, 1, 3, 5, 17], 96))",
            "EVIOCGBIT(3) 96 \(bits([0, 0x2f, 0x35, 0x39], 96))", "EVIOCGKEY(0) 96 \(bits([30, 767], 96))",
            "EVIOCGSW(0) 96 \(bits([2], 96))", "EVIOCGLED(0) 96 \(bits([1], 96))",
            "EVIOCGABS(0) 0 \(littleEndian([-7, 0, 0, 0, 0, 0]).hexadecimal)",
            "EVIOCGABS(47) 0 \(littleEndian([1, 0, 2, 0, 0, 0]).hexadecimal)",
            "EVIOCGMTSLOTS(0) 0 \(littleEndian([0x35, 5, 6, 7]).hexadecimal)",
            "EVIOCGMTSLOTS(0) 0 \(littleEndian([0x39, 8, 9, -1]).hexadecimal)",
        ]
        let lines = try emulation("input", "/dev/input/event1", answers).read("input")
        #expect(
            lines == [
                "state [30, 767] [2] [1]", "axis 0 -7", "axis 47 1", "slots 53 [5, 6, 7]", "slots 57 [8, 9, -1]",
            ])
    }

    @Test("a device that numbers its reports has their numbers told, and in their bytes")
    func numbered() throws {
        let descriptor: [UInt8] = [0xa1, 1, 0x85, 3, 0x81, 2, 0x85, 4, 0x81, 2, 0xc0]
        var emulation = try hid(descriptor, size: descriptor.count)
        put("r 100 ^C^A^B\nr 1000 ^D^Z\n", at: "\(directory)/script")
        emulation.script = "\(directory)/script"
        let lines = try emulation.read("hid")
        #expect(lines.prefix(3) == ["numbers true [3, 4] sound", "report 3 030102", "report 4 041a"])
    }

    @Test("a device whose descriptor lies is opened, told, and its reports taken for unnumbered")
    func lies() throws {
        let descriptor: [UInt8] = [0x85, 3, 0x81, 2, 0x27, 1]
        var emulation = try hid(descriptor, size: descriptor.count)
        put("r 100 ^C^A^B\n", at: "\(directory)/script")
        emulation.script = "\(directory)/script"
        let wanted = "numbers false [] the report descriptor's item at byte 4 goes past its end"
        #expect(try Array(emulation.read("hid").prefix(2)) == [wanted, "report 0 030102"])
    }

    @Test("a device whose descriptor is longer than any can be is refused with a reason")
    func impossible() throws {
        let lines = try hid([0x85, 3, 0x81, 2], size: 5_000).read("hid")
        #expect(lines.count == 1 && lines[0].contains("could not read the report descriptor of /dev/hidraw1"))
    }

    /// The emulation takes the kernel's whole struct only, 4 bytes of length and 4,096 of room, and hands on together what
    /// comes together.
    private func hid(_ descriptor: [UInt8], size: Int) throws -> Emulation {
        let room = [UInt8](repeating: 0, count: 4_096 - descriptor.count)
        let whole = littleEndian([Int32(size)]) + descriptor + room
        let answers = [
            "HIDIOCGRDESCSIZE 0 \(littleEndian([Int32(size)]).hexadecimal)", "HIDIOCGRDESC 0 \(whole.hexadecimal)",
        ]
        return try emulation("hidraw", "/dev/hidraw1", answers)
    }

    private func emulation(_ subsystem: String, _ node: String, _ answers: [String]) throws -> Emulation {
        let name = node.dropFirst(5)
        let device =
            "P: /devices/made/\(name)\nN: \(name)\nE: DEVNAME=\(node)\nE: SUBSYSTEM=\(subsystem)\nA: dev=13:65\n\n"
        put(device, at: "\(directory)/device")
        put((["@DEV \(node)"] + answers).map { $0 + "\n" }.joined(), at: "\(directory)/answers")
        return Emulation(node: node, device: "\(directory)/device", answers: "\(directory)/answers")
    }
}

/// Bits in so many bytes, the lowest first.
private func bits(_ set: [Int], _ count: Int) -> String {
    (0..<count).map { byte in set.filter { $0 / 8 == byte }.reduce(UInt8(0)) { $0 | 1 << UInt8($1 % 8) } }.hexadecimal
}

/// A umockdev script: what was read and written, one call a line, control bytes as `^` and a letter.
private struct EmulationScript {
    private(set) var read: [[UInt8]] = []
    private(set) var written: [[UInt8]] = []

    init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: 10) {
            let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[0].first == UInt8(ascii: "r") { read.append(Self.plain(parts[2])) }
            if parts[0].first == UInt8(ascii: "w") { written.append(Self.plain(parts[2])) }
        }
    }

    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (plain, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "^"), let next = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            plain.append(next == UInt8(ascii: "`") ? UInt8(ascii: "^") : next &- 64)
        }
        return plain
    }
}
