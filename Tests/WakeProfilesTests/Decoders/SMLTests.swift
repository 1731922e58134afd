// SML against files that owners of meters recorded: libsml-testing.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder sml")
struct SMLTests {
    private struct Recording {
        var file: String
        var value: String
    }

    /// EMH_eHZ361L5R.
    private static let hager = Recording(
        file: "1b1b1b1b01010101760598e0ce95620062007263010176010108486167084219ad08313030313138350101635b2000760598"
            + "e0ce9662006200726307017701083130303131383501017577078181c78203ff010101010648414745520177070100000000"
            + "ff0101010108313030313138350177070100020801ff628201621e52ff690000000041c4988f01770700006001ffff010101"
            + "010b303030303131363931370177070100010701ff628201621b52fc55fca4988401010163fedb00760598e0ce9762006200"
            + "726302017101631b000000001b1b1b1b1a02db3a",
        value:
            #"{"server_id":"31303031313835","manufacturer":"HAGER","obis_1_0_0_0_0":"1001185","energy_export_tariff1_wh":110340315.1,"#
            + #""obis_0_0_96_1_255":"0000116917","obis_1_0_1_7_1_w":-5632.1916}"#)

    /// DZG_DVS-7412.2_jmberg.
    private static let dzg = Recording(
        file: "1b1b1b1b010101017605f12cad07620062007263010176010102310b0a01445a47000282225e7262016505e748d762026395"
            + "5c007605f22cad07620062007263070177010b0a01445a47000282225e070100620affff7262016505e748d7757707010060"
            + "3201010172620162006200520004445a470177070100600100ff017262016200620052000b0a01445a47000282225e017707"
            + "0100010800ff641c01047262016200621e52ff65033c93890177070100020800ff017262016200621e52ff650fa49a9e0177"
            + "070100100700ff017262016200621b52fe538b28010101636b99007605f32cad076200620072630201710163d90c00001b1b"
            + "1b1b1a01c3e1",
        value:
            #"{"server_id":"0a01445a47000282225e","meter_time_s":99043543,"manufacturer":"DZG","device_id":"0a01445a47000282225e","#
            + #""energy_import_wh":5430157.7,"energy_export_wh":26244572.6,"power_w":356.24}"#)

    /// HOLLEY_DTZ541-BDBA_without_PIN.
    private static let holley = Recording(
        file: "1b1b1b1b01010101760400000162006200726500000101760101070000016c54b00b0a01484c5902000d6be672620165016c"
            + "54b00163bfb2007604000002620062007265000007017707ffffffffffff0b0a01484c5902000d6be6070100620affff7262"
            + "0165016c54b07377070100603201010101010104484c590177070100600100ff010101010b0a01484c5902000d6be6017707"
            + "0100010800ff65001c010472620165016c54b0621e5203630914010101637eb8007604000003620062007265000002017101"
            + "63e823001b1b1b1b1a004c50",
        value:
            #"{"server_id":"0a01484c5902000d6be6","meter_time_s":23876784,"manufacturer":"HLY","device_id":"0a01484c5902000d6be6","#
            + #""energy_import_wh":2324000}"#)

    private func values(_ pieces: [[UInt8]]) throws -> [String?] {
        var listener = try Listener(.sml)
        return pieces.map { listener.hear($0, .line) }
    }
    private static let begin: [UInt8] = [0x1b, 0x1b, 0x1b, 0x1b, 1, 1, 1, 1]
    private static let end: [UInt8] = [0x1b, 0x1b, 0x1b, 0x1b, 0x1a]
    private func bytes(_ recording: Recording) throws -> [UInt8] { try #require([UInt8](hexadecimal: recording.file)) }

    /// A file with the readings of one meter, each as a list of seven in hexadecimal.
    private static func file(server: String, _ readings: String...) throws -> [UInt8] {
        let count = UInt8(readings.count)
        let text =
            "7603010262006200" + "7263070177010b\(server)01" + "01" + [0x70 | count].hexadecimal + readings.joined()
            + "0101"
            + "63000000"
        let list = try #require([UInt8](hexadecimal: text))
        let padding = (4 - list.count % 4) % 4
        let file = begin + list + [UInt8](repeating: 0, count: padding) + end + [UInt8(padding)]
        return file + check(file)
    }

    private static func power(_ quantity: String, _ value: String) -> String {
        "770701" + "00" + quantity + "0700ff0101621b52fe" + value + "01"
    }

    @Test(
        "DZG's DVS74 send more than 327.67 W as a negative number, and only the meters with the numbers that the maker named do",
        arguments: [
            // 43,679,432 and 42,000,000, 60,822,068, 40,059,999 and 49,000,000; then a number of three bytes.
            ("0a01445a4700029a7ec8", "539088", "370"), ("0a01445a4700" + "0280de80", "539088", "370"),
            ("0a01445a470003a01234", "53d6ca", "-105.5"), ("0a01445a4700" + "0263445f", "539088", "-285.36"),
            ("0a01445a4700" + "02ebae40", "539088", "-285.36"), ("0a01445a4700029a7ec8", "54ff9088", "-285.36"),
            ("0a01445a4700029a7ec8", "530bb8", "30"), ("0a01454d4800029a7ec8", "539088", "-285.36"),
        ])
    func unsignedPower(server: String, value: String, expected: String) throws {
        for (quantity, name) in [("10", "power_w"), ("24", "power_l1_w"), ("38", "power_l2_w"), ("4c", "power_l3_w")] {
            let file = try Self.file(server: server, Self.power(quantity, value))
            #expect(try values([file]) == ["{\"server_id\":\"\(server)\",\"\(name)\":\(expected)}"])
        }
    }

    @Test(
        "EMH's meters have the direction of their power in the status word of the energy, and other makers' have not",
        arguments: [
            ("06454d48010271000001", "0182", "126.6"), ("06454d48010271000001", "01a2", "-126.6"),
            ("0a01445a4700029a7ec8", "01a2", "126.6"),
        ])
    func direction(server: String, status: String, expected: String) throws {
        let energy = "77070100010800ff63\(status)01621e52ff56000a472d1401"
        let power = "7707" + "01000f0700ff" + "0101621b52ff55000004f201"
        let value =
            "{\"server_id\":\"\(server)\",\"energy_import_wh\":17243675.6,\"power_total_w\":\(expected)}"
        #expect(try values([Self.file(server: server, energy, power)]) == [value])
        #expect(
            try values([Self.file(server: server, power, energy)])[0]?.contains("\"power_total_w\":\(expected)") == true
        )
    }

    @Test("recorded files decode: tariffs, negative power, names and numbers of devices, a check that begins with zero")
    func recordings() throws {
        for recording in [Self.hager, Self.dzg, Self.holley] {
            #expect(try values([bytes(recording)]) == [recording.value])
        }
    }

    @Test("a file in pieces of any size comes when its last byte does, after noise and half a file too")
    func pieces() throws {
        let file = try bytes(Self.dzg)
        for size in [1, 3, 7, 64, 255] {
            let pieces = stride(from: 0, to: file.count, by: size).map { Array(file[$0..<min($0 + size, file.count)]) }
            let heard = try values(pieces)
            #expect(heard.dropLast().allSatisfy { $0 == nil } && heard.last == Self.dzg.value, "\(size)")
        }
        #expect(try values([[1, 2, 0x1b, 0x1b] + file]) == [Self.dzg.value])
        let half = Array(file[100...])
        #expect(try values([half, bytes(Self.hager)]) == [nil, Self.hager.value])
    }

    @Test("of two files in one piece the last is told, and what follows them is kept")
    func several() throws {
        let (one, two) = (try bytes(Self.dzg), try bytes(Self.hager))
        #expect(
            try values([one + two + one.prefix(50), Array(one.dropFirst(50))]) == [Self.hager.value, Self.dzg.value])
    }

    /// A file around one reading whose value holds four escape bytes.
    @Test("escape bytes in a file are sent twice, and count once")
    func escaped() throws {
        let message =
            "760500000001620062007263070177010101017177070100600100ff01010101051b1b1b1b1b1b1b1b01010163000000"
        let list = try #require([UInt8](hexadecimal: message))
        var file: [UInt8] = Self.begin + list
        let padding = (4 - (list.count - 4) % 4) % 4
        file += [UInt8](repeating: 0, count: padding)
        file += Self.end + [UInt8(padding)]
        file += Self.check(file)
        #expect(try values([file]) == [#"{"device_id":"1b1b1b1b"}"#])
    }

    /// CRC-16/X-25, lowest byte first.
    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        var check: UInt16 = 0xffff
        for byte in bytes {
            check ^= UInt16(byte)
            for _ in 0..<8 { check = check & 1 == 0 ? check >> 1 : check >> 1 ^ 0x8408 }
        }
        check ^= 0xffff
        return [UInt8(check & 0xff), UInt8(check >> 8)]
    }

    @Test("whatever byte of a file is changed, its check does not fit; the next file is heard")
    func changed() throws {
        let file = try bytes(Self.hager)
        for index in 8..<(file.count - 8) {
            var spoilt = file
            spoilt[index] ^= 0x21
            let heard = try values([spoilt, file])
            #expect(heard[0]?.hasPrefix("{") != true && heard[1] == Self.hager.value, "\(index): \(heard)")
        }
    }

    @Test("a true check around what is no SML makes a sentence")
    func unfit() throws {
        for body in [
            "7605", "76ffffff", "f0f0f0f0f0", "7177777777777777777777777777", "72620162", "5a00000000000000000000",
            "760101010101",
        ] {
            var file: [UInt8] = Self.begin + (try #require([UInt8](hexadecimal: body)))
            file += Self.end + [0]
            let heard = try values([file + Self.check(file)])
            #expect(heard.count == 1 && heard[0]?.hasPrefix("{") == false, "\(body): \(heard)")
        }
    }

    @Test("a file that never ends is given up after 64 KiB")
    func endless() throws {
        let heard = try values([Self.begin + [UInt8](repeating: 0x55, count: 65_536), bytes(Self.dzg)])
        #expect(heard == ["an SML file of more than 64 KiB, which no escape sequence has ended", Self.dzg.value])
    }

    @Test("ten thousand random and spoilt pieces make a value or a sentence")
    func hardy() throws {
        try expectHardy(.sml, [.line], seeds: [Self.hager.file, Self.dzg.file, Self.holley.file])
        // With true checks, so that what is behind them is reached.
        var (dice, listener) = (Dice(29), try Listener(.sml))
        let seeds = try [Self.hager, Self.dzg, Self.holley].map { Array(try bytes($0).dropFirst(8).dropLast(8)) }
        for _ in 0..<10_000 {
            var body = seeds[dice.below(seeds.count)]
            for _ in 0...dice.below(4) { body[dice.below(body.count)] = UInt8(truncatingIfNeeded: dice.next()) }
            var file: [UInt8] = Self.begin + body
            file += Self.end + [UInt8(dice.below(3))]
            file += Self.check(file)
            guard let text = listener.hear(file, .line), text.hasPrefix("{") else { continue }
            #expect((try? JSONValue(parsing: Array(text.utf8))) != nil, "\(text)")
        }
    }
}
