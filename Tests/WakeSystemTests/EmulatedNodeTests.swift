// The nodes of recorded devices, emulated by umockdev: the reader runs under it as the bridge would on the real node.
import Glibc
import TestBench
import Testing
import WakeSystem

private let umockdev = "/usr/bin/umockdev-run"
private var canEmulate: Bool { access(umockdev, X_OK) == 0 && DeviceCaptures.exist }

@Suite(
    "The nodes of recorded devices",
    .enabled(if: canEmulate, "needs umockdev-run of the package umockdev, and the captures"))
struct EmulatedNodeTests {
    private let folder = "\(DeviceCaptures.folder)/usb"

    /// The lines that the reader prints of `node`, emulated from the files named `name`.
    private func read(_ kind: String, _ node: String, _ files: [String], _ arguments: [String]) throws -> [String] {
        let program = [umockdev, "-d", "\(folder)/\(files[0])", "-i", "\(node)=\(folder)/\(files[1])"]
        let script = ["-s", "\(node)=\(folder)/\(files[2])", "--", Built.nodeReader, kind, node]
        let (_, output, talk) = try Child(program + script + arguments).finish()
        if output.isEmpty { Issue.record("\(talk)") }
        return output.split(separator: "\n").map(String.init)
    }

    @Test("a keyboard's events come whole and in order, at the times and with the values that were recorded")
    func keyboard() throws {
        let files = ["usbkbd.umockdev", "usbkbd.evtest.ioctl", "usbkbd.evtest.script.64"]
        let lines = try read("input", "/dev/input/event5", files, [])
        #expect(lines.first == "state [] [] [] 0 0")
        let recorded = Script(DeviceCaptures.bytes("usb/" + files[2])).read.flatMap { $0 }
        let events = stride(from: 0, to: recorded.count, by: 24).map { place in
            let value = recorded[place + 20..<place + 24].reversed().reduce(Int32(0)) { $0 << 8 | Int32($1) }
            return "event \(recorded[place + 16]) \(recorded[place + 18]) \(value)"
        }
        #expect(events.count > 10 && lines.filter { $0.hasPrefix("event") } == events)
    }

    @Test("a security key takes a report and answers with reports of 64 bytes without numbers")
    func securityKey() throws {
        let script = Script(DeviceCaptures.bytes("usb/fido2.script"))
        let first = try #require(script.written.first)
        let lines = try read(
            "hid", "/dev/hidraw5", ["fido2.umockdev", "fido2.ioctl", "fido2.script"], [hexadecimal(first)])
        #expect(lines.first == "numbers false [] sound")
        #expect(lines.dropFirst().first == "wrote wrote(65)")
        #expect(lines.dropFirst(2).first == "report 0 " + hexadecimal(try #require(script.read.first)))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

/// A umockdev script: what was read and written, one call a line, control bytes as `^` and a letter.
private struct Script {
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
