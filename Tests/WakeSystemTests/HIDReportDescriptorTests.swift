// Report descriptors: those of real devices, made ones, and those that lie.
import TestBench
import Testing
import WakeModel

@Suite("A report descriptor") struct ReportDescriptorTests {
    /// A boot keyboard: no numbers.
    private let keyboard: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0x05, 0x07, 0x19, 0xe0, 0x29, 0xe7, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x95,
        0x08, 0x81, 0x02, 0xc0,
    ]

    @Test("without report numbers says so, as does one with a long item and padding")
    func unnumbered() {
        // What stands in a long item would be a lie outside of it, and its last byte begin a number.
        let long: [[UInt8]] = [[0xfe, 2, 0x10, 0x85, 0], [0xfe, 1, 0x10, 0x85], [0xfe, 0, 0]]
        for bytes in [keyboard, keyboard + [0, 0]] + long.map({ $0 + keyboard }) {
            let descriptor = HIDReportDescriptor(bytes)
            #expect(descriptor.inputNumbers.isEmpty && descriptor.fault == nil)
        }
    }

    @Test("takes the numbers of input reports alone, and what was put aside comes back")
    func numbered() {
        let push: [UInt8] = [
            0x85, 3, 0xa4, 0x85, 9, 0x81, 2, 0xb4, 0x81, 2, 0x86, 7, 0, 0x91, 2, 0x87, 8, 0, 0, 0, 0xb1, 2,
        ]
        let descriptor = HIDReportDescriptor(push)
        #expect(descriptor.inputNumbers == [3, 9] && descriptor.fault == nil)
        #expect(!descriptor.inputNumbers.isEmpty)
        // Its feature reports alone have numbers.
        #expect(HIDReportDescriptor([0x81, 2, 0x85, 1, 0xb1, 2]).inputNumbers.isEmpty)
    }

    @Test("that lies has a fault, and its reports no numbers")
    func lies() {
        let cases: [([UInt8], HIDReportDescriptor.Fault)] = [
            ([], .empty), ([0x85], .itemPastEnd(at: 0)), ([0x85, 1, 0x81, 2, 0x27, 1, 2, 3], .itemPastEnd(at: 4)),
            ([0x85, 1, 0x81, 2, 0x85, 0], .badNumber(at: 4)), ([0x84, 0x81, 2], .badNumber(at: 0)),
            ([0x86, 1, 1, 0x81, 2], .badNumber(at: 0)), ([0x85, 1, 0x81, 2, 0xb4], .popWithoutPush(at: 4)),
            ([0xfe], .itemPastEnd(at: 0)), ([0xfe, 0], .itemPastEnd(at: 0)), ([0xfe, 2, 0, 1], .itemPastEnd(at: 0)),
        ]
        for (bytes, fault) in cases {
            let descriptor = HIDReportDescriptor(bytes)
            #expect(descriptor.fault == fault && descriptor.inputNumbers.isEmpty, "\(bytes)")
            #expect(descriptor.fault?.description.contains("the report descriptor") == true)
        }
    }

    @Test(
        "of a real tablet and its keys has the numbers of the reports that it sends",
        .enabled(unless: DeviceCaptures.hindrance))
    func realDevices() throws {
        let keys = HIDReportDescriptor(DeviceCaptures.bytes("hid/xp-pen-ack05.descriptor"))
        #expect(keys.inputNumbers == [0x02, 0xf0, 0xf2] && keys.fault == nil)
        let lines = DeviceCaptures.lines("hid/penpartner.hidrecord")
        let described = try #require(lines.first { $0.hasPrefix("R: ") })
        let tablet = HIDReportDescriptor(bytes(described))
        let sent = Set(lines.filter { $0.hasPrefix("E: ") }.compactMap { bytes($0, skipping: 3).first })
        #expect(tablet.fault == nil && !sent.isEmpty && sent.isSubset(of: Set(tablet.inputNumbers)), "\(sent)")
    }

    @Test("cut short or damaged anywhere never stops the bridge, and never has numbers beside a fault")
    func fuzz() {
        var dice = Dice(4)
        let real = DeviceCaptures.bytes("hid/xp-pen-ack05.descriptor")
        for start in [keyboard, real, [0x85, 1, 0x81, 2]] {
            for length in 0...start.count { check(Array(start.prefix(length))) }
            for _ in 0..<5_000 {
                var bytes = start
                for _ in 0...dice.below(6) where !bytes.isEmpty {
                    bytes[dice.below(bytes.count)] = UInt8(dice.below(256))
                }
                check(bytes)
            }
        }
        for _ in 0..<5_000 { check((0..<dice.below(64)).map { _ in UInt8(dice.below(256)) }) }
    }

    private func check(_ bytes: [UInt8]) {
        let descriptor = HIDReportDescriptor(bytes)
        let numbers = descriptor.inputNumbers
        #expect(descriptor.fault == nil || numbers.isEmpty)
        #expect(numbers.allSatisfy { $0 != 0 && bytes.contains($0) })
        if case .itemPastEnd(let place) = descriptor.fault { #expect(bytes.indices.contains(place)) }
    }

    /// A line of hid-recorder: a letter, a time where there is one, a length, the bytes.
    private func bytes(_ line: String, skipping words: Int = 2) -> [UInt8] {
        line.split(separator: " ").dropFirst(words).compactMap { UInt8($0, radix: 16) }
    }
}
