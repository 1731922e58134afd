// HID power devices: report descriptors and reports that owners of supplies published with Network UPS Tools.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder hid-power")
struct HIDPowerTests {
    /// A whole descriptor: NUT's issue 3227, device 5131:2007.
    private static let small =
        "05840904a10105840924a100850b0925091f750495021500250f6500b103058509d1092c098b750195032501b1039505b1030585098309"
        + "8c098d098e751895046701101000550027feffff00b10305840940751095016721d1f000550527feff0000b10305850967751895016701"
        + "101000550027feffff00b18309669501b182096695018182096875109501660110550027feff0000818305840902a102058509d0094509"
        + "440942750195042501818395048183c0c0c0"

    /// The beginning of an APC Back-UPS ES 850G2's, closed where it is cut: NUT's issue 1304.
    private static let apc =
        "05840904a1010924a100850109fe790275089501150026ff00b122850209ff7903b1228503058509897904b1228504098f7901b1228505"
        + "098bb1228506094481a20944b1a2094581a20945b1a20686ff096081a20960b1a2850705850985751027ffff0000b1a285080584094067"
        + "21d1f0005505b12285090930b1a2850a09fd750826ff00650055007901b122850b0585092cb122850c0966256481a20966b1a209687510"
        + "27ffff000066011081a20968b1a2c0c0"

    private func listener(_ descriptor: String) throws -> Listener {
        var settings = DecoderSettings()
        settings.reportDescriptor = try #require([UInt8](hexadecimal: descriptor))
        return try Listener(.hidPower, settings)
    }

    @Test("a supply's whole descriptor: charge in ampere seconds, time to empty and flags lie where NUT found them")
    func whole() throws {
        var listener = try listener(Self.small)
        // Bits 0 to 23, 24 to 39, and 40 to 43.
        #expect(
            try listener.hear("0b" + "640000" + "5802" + "09", .report)
                == #"{"remaining_capacity_as":100,"run_time_to_empty_s":600,"ac_present":true,"discharging":false,"charging":false,"#
                + #""below_remaining_capacity_limit":true}"#)
        #expect(
            try listener.hear("0b" + "ffffff" + "0000" + "06", .report)
                == #"{"remaining_capacity_as":null,"run_time_to_empty_s":0,"ac_present":false,"discharging":true,"charging":true,"#
                + #""below_remaining_capacity_limit":false}"#)
    }

    @Test("APC's reports by number: charge in percent, time, voltages in volts, flags of a byte")
    func byNumber() throws {
        var listener = try listener(Self.apc)
        #expect(
            try listener.hear("0c64ac0d", .report) == #"{"remaining_capacity_percent":100,"run_time_to_empty_s":3500}"#)
        #expect(try listener.hear("06000108", .report) == #"{"charging":false,"discharging":true}"#)
        #expect(try listener.hear("08b004", .featureReport) == #"{"nominal_voltage_v":12}"#)
        #expect(try listener.hear("095405", .featureReport) == #"{"voltage_v":13.64}"#)
        #expect(try listener.hear("0b02", .featureReport) == #"{"capacity_mode":2}"#)
        #expect(try listener.hear("0101", .featureReport) == nil)
    }

    /// A supply in a few bytes: limits below zero, another scale, names by the parts around them, a state saved and restored.
    private static let made =
        "05840904a101" + "091aa100" + "0930" + "150026ff7f" + "6721d1f000" + "5506" + "75109501" + "8102" + "c0"
        + "091ca100" + "a4" + "0935" + "6500" + "5500" + "15002564" + "350046c800" + "7508" + "8102" + "b4" + "0932"
        + "6601f0"
        + "550f" + "8102" + "c0" + "0912a100" + "0936" + "6701000100" + "5500" + "8102" + "0931" + "6701001000"
        + "16ceff" + "2532"
        + "7508" + "8102" + "c0" + "c0"

    @Test(
        "limits, scales and exponents: parts of a supply name their fields, and without numbers the first byte is data")
    func scales() throws {
        var listener = try listener(Self.made)
        #expect(
            try listener.hear("fb08" + "32" + "f401" + "2b01" + "e2", .report)
                == #"{"input_voltage_v":229.9,"output_load_percent":100,"output_frequency_hz":50,"battery_temperature_c":25.85,"#
                + #""battery_current_a":-30}"#)
    }

    /// One item of 16 bits, volts with an exponent that makes them the unit, with the limits and flags that are given.
    private func voltage(_ limits: String, flags: String, _ report: String) throws -> String? {
        var listener = try listener(
            "05840904a101" + "8501" + "0930" + limits + "6721d1f000" + "5507" + "75109501" + flags + "c0")
        return try listener.hear("01" + report, .report)
    }

    @Test(
        "a number outside the declared limits counts, but for an item with a null state and for the one number that the limit keeps free",
        arguments: [
            // 225 V where the greatest is declared as 70, the least as 249, and the greatest as 255 of 480.
            ("15002546", "8102", "e100", "225"), ("16f900260501", "8102", "e100", "225"),
            ("150026ff00", "8102", "e001", "480"), ("150026ff00", "8142", "e001", "null"),
            ("150026ff00", "8142", "e100", "225"), ("150027feff0000", "8102", "ffff", "null"),
            ("150026fe7f", "8102", "ff7f", "32767"),
        ])
    func limits(limits: String, flags: String, report: String, expected: String) throws {
        #expect(try voltage(limits, flags: flags, report) == "{\"voltage_v\":\(expected)}")
    }

    @Test("zeros may fill up a report, and other bytes behind it stand beside its value")
    func filled() throws {
        var listener = try listener(Self.apc)
        let value = #""remaining_capacity_percent":100,"run_time_to_empty_s":3500"#
        #expect(try listener.hear("0c64ac0d" + "0000", .report) == "{\(value)}")
        #expect(try listener.hear("0c64ac0d" + "0007", .report) == "{\(value),\"undecoded\":\"0007\"}")
    }

    @Test(
        "an exponent has four bits with a sign, whatever a descriptor writes above them",
        arguments: [
            ("5505", "500000"), ("550f", "0.5"), ("55ff", "0.5"), ("5508", "0.00000005"), ("5600fe", "5"),
            ("57ffffff7f", "0.5"), ("5700000080", "5"),
        ])
    func exponents(item: String, expected: String) throws {
        let field = "0930" + "1500" + "26ff00" + "7508" + "9501" + "8102"
        var listener = try listener("05840904a101" + "8501" + item + field + "c0")
        #expect(try listener.hear("0105", .report) == "{\"voltage_v\":\(expected)}")
    }

    @Test(
        "a descriptor that ends in the middle, or is of another device, begins no decoder",
        arguments: [
            ("", "the report descriptor is empty"),
            ("05010906a101c0", "no power device: its report descriptor has no usages of pages 84 and 85"),
            ("05840904a101", "the report descriptor is cut short: it ends in a collection"),
            ("0584c0", "the report descriptor's item at byte 2 ends a collection that has not begun"),
            ("b4", "the report descriptor's item at byte 0 takes back what was never put aside"),
            ("27ffff", "the report descriptor's item at byte 0 goes past its end"),
            ("77ffffff0f97ffffff0f8102", "the report descriptor's item at byte 10 makes a report of more than 16 KiB"),
        ] as [(String, String)])
    func descriptors(descriptor: String, expected: String) throws {
        var settings = DecoderSettings()
        settings.reportDescriptor = try #require([UInt8](hexadecimal: descriptor))
        #expect(throws: DecoderFault.self) { try NamedDecoder.hidPower.begin(settings) }
        do { _ = try NamedDecoder.hidPower.begin(settings) } catch { #expect(error.description == expected) }
    }

    @Test("a report of another number, or that is too short, makes no value")
    func unfit() throws {
        var listener = try listener(Self.apc)
        #expect(try listener.hear("0c64", .report) == "too short: what begins at byte 0 needs 3, 1 are left")
        #expect(
            try listener.hear("7700", .report) == "unknown report 119: the report descriptor has none of that number")
        #expect(try listener.hear("", .report) == "too short: what begins at byte 0 needs 1, 0 are left")
    }

    @Test("ten thousand random and spoilt descriptors begin a decoder or make a sentence")
    func hardyDescriptors() throws {
        var dice = Dice(28)
        let seeds = try [Self.small, Self.apc, Self.made].map { try #require([UInt8](hexadecimal: $0)) }
        for round in 0..<10_000 {
            var bytes = (0..<dice.below(64)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            if !round.isMultiple(of: 4) {
                bytes = seeds[dice.below(seeds.count)]
                for _ in 0...dice.below(4) { bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.next()) }
            }
            var settings = DecoderSettings()
            settings.reportDescriptor = bytes
            guard var state = try? NamedDecoder.hidPower.begin(settings) else { continue }
            let report = (0..<dice.below(12)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            var json: [UInt8] = []
            let message = DecoderMessage(bytes: report, origin: .report)
            guard (try? NamedDecoder.hidPower.run(over: message, with: &state, into: &json)) == true else { continue }
            #expect((try? JSONValue(parsing: json)) != nil)
        }
    }

    @Test("ten thousand random and spoilt reports make a value or a sentence")
    func hardy() throws {
        var settings = DecoderSettings()
        settings.reportDescriptor = try #require([UInt8](hexadecimal: Self.apc))
        #expect(
            try expectHardy(.hidPower, [.report, .featureReport], seeds: ["0c64ac0d", "06000108", "095405"], settings)
                > 0)
    }
}
