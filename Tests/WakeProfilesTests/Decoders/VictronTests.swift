// Victron's Instant Readout against the messages of victron-ble's tests, and Ruuvi's format 8 against its document.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder victron")
struct VictronTests {
    private struct Vector {
        var bytes: String
        var key: String
        var value: String
    }

    private static let vectors = [
        Vector(
            bytes: "100030a308f926c1b5170a0d2280335bf12d5ed083", key: "c129cf8f75c3fe5a1655b481e205fb7d",
            value:
                #"{"model_id":"a330","record":"ac_charger","state":"storage","error":"none","output_1_voltage_v":13.49,"#
                + #""output_1_current_a":0.4,"output_2_voltage_v":null,"output_2_current_a":null,"output_3_voltage_v":null,"#
                + #""output_3_current_a":null,"temperature_c":21,"ac_current_a":null}"#),
        Vector(
            bytes: "100289a302b040af925d09a4d89aa0128bdef48c6298a9", key: "aff4d0995b7d1e176c0c33ecb9e70dcd",
            value:
                #"{"model_id":"a389","record":"battery_monitor","remaining_min":null,"battery_voltage_v":12.53,"alarms":[],"#
                + #""battery_current_a":0,"consumed_ah":-50,"battery_percent":50}"#),
        Vector(
            bytes: "1000a4a3025f150d8dcbff517f30eb65e76b22a04ac4e1", key: "0da694539597f9cf6c613cde60d7bf05",
            value:
                #"{"model_id":"a3a4","record":"battery_sense","battery_voltage_v":12.22,"alarms":[],"temperature_c":22.5}"#
        ),
        Vector(
            bytes: "100289a30d787fafde83ccec982199fd815286", key: "aff4d0995b7d1e176c0c33ecb9e70dcd",
            value:
                #"{"model_id":"a389","record":"dc_energy_meter","meter":"dcdc_charger","battery_voltage_v":12.52,"alarms":[],"#
                + #""aux_voltage_v":-0.01,"battery_current_a":0}"#),
        Vector(
            bytes: "1000c0a304121d64ca8d442b90bbdf6a8cba", key: "64ba49f1a8562e45197a8e1fe50d7658",
            value:
                #"{"model_id":"a3c0","record":"dcdc_converter","state":"off","error":"none","input_voltage_v":13.15,"#
                + #""output_voltage_v":null,"off_reasons":["engine_shutdown"]}"#),
        Vector(
            bytes: "100043a40bf4e434af0e46c3b8eb68e08e616993f70c", key: "346c410e8c824dd723c0f5b13b9eabc8",
            value:
                #"{"model_id":"a443","record":"multi_rs","state":"inverting","error":"none","battery_current_a":-12.8,"#
                + #""battery_voltage_v":51.71,"ac_input":"not_connected","ac_in_power_w":0,"ac_out_power_w":722,"pv_power_w":0,"#
                + #""yield_today_kwh":5.32}"#),
        Vector(
            bytes: "1080b0a3093523fadedea38b1af8bcbde91ca8b6dbb60e", key: "fac570d66380b797a5b7543758be00e4",
            value:
                #"{"model_id":"a3b0","record":"smart_battery_protect","state":"active","output":"on","error":"none","alarms":[],"#
                + #""warnings":[],"input_voltage_v":13.07,"output_voltage_v":13.07,"off_reasons":[]}"#),
        Vector(
            bytes: "100242a0016207adceb37b605d7e0ee21b24df5c", key: "adeccb947395801a4dd45a2eaa44bf17",
            value:
                #"{"model_id":"a042","record":"solar_charger","state":"absorption","error":"none","battery_voltage_v":13.88,"#
                + #""battery_current_a":1.4,"yield_today_kwh":0.03,"pv_power_w":19,"load_current_a":0}"#),
        Vector(
            bytes: "100380270c1252dad26f0b8eb39162074d140df410", key: "da3f5fa2860cb1cf86ba7a6d1d16b9dd",
            value: #"{"model_id":"2780","record":"ve_bus","state":"float","vebus_error":0,"battery_current_a":23.2,"#
                + #""battery_voltage_v":14.45,"ac_input":"ac_in_1","ac_in_power_w":1459,"ac_out_power_w":1046,"alarm":"none","#
                + #""battery_temperature_c":32,"battery_percent":null}"#),
        Vector(
            bytes: "100380270ce1b2dabd34912a6ecec963899227a220", key: "da3f5fa2860cb1cf86ba7a6d1d16b9dd",
            value:
                #"{"model_id":"2780","record":"ve_bus","state":"inverting","vebus_error":0,"battery_current_a":-5.9,"#
                + #""battery_voltage_v":12.43,"ac_input":"not_connected","ac_in_power_w":0,"ac_out_power_w":45,"alarm":"none","#
                + #""battery_temperature_c":30,"battery_percent":null}"#),
    ]

    @Test("the encrypted messages of victron-ble's tests decode")
    func vectors() throws {
        for vector in Self.vectors {
            var listener = try Listener(.victron, key: vector.key)
            #expect(try listener.hear(vector.bytes, .manufacturerData(0x02e1)) == vector.value)
        }
    }

    /// Decrypted by victron-ble's tests.
    @Test(
        "decrypted records decode: auxiliary inputs, cells, flags, and numbers that stand for none",
        arguments: [
            (0x02, "ffffe6040000feff010000000080fe0c", #""midpoint_voltage_v":655.34,"#),
            (0x02, "ffffe6040000feff000000000080feac", #""aux_voltage_v":-0.02,"#),
            (0x02, "ffffe6040000ffff020000000080fede", #""temperature_c":null,"#),
            (0x0d, "fdffe40400008888020000ae28af8a5c", #""temperature_c":76.37,"#),
            (
                0x0d, "ffff6f0a0000000003000043698118eb",
                #""meter":"source","battery_voltage_v":26.71,"alarms":[],"battery_current_a":0}"#
            ),
            (
                0x05, "000000060000c7e3f1f8ffffff2c35b5fab47801",
                #""bms_flags":100663296,"error_flags":0,"cells_v":[3.31,3.31,3.31,3.31,null,null,null,null],"battery_voltage_v":13.24,"#
                    + #""balancer":"imbalance","battery_temperature_c":13}"#
            ),
            (
                0x0a, "0040388b0afaff951555148ccf0200ffb3eaf174",
                #""error_flags":0,"remaining_min":14400,"battery_voltage_v":26.99,"battery_current_a":-0.6,"io_flags":5525,"#
                    + #""alarm_flags":5205,"battery_percent":99.5,"consumed_ah":-4.4,"battery_temperature_c":null}"#
            ),
            (
                0x0b, "0900ff7f3294ff7fff7fffff1402",
                #""battery_current_a":null,"battery_voltage_v":51.7,"ac_input":"not_connected","#
            ),
            (0x01, "0300fb09650032000901ffff31bc45ad", #""pv_power_w":265,"load_current_a":null}"#),
        ] as [(Int, String, String)])
    func records(type: Int, plain: String, expected: String) throws {
        let record = try #require(VictronRecord(type: UInt8(type), model: 0))
        var fields = DecodedFields()
        try record.read(try #require([UInt8](hexadecimal: plain)), into: &fields)
        var json: [UInt8] = []
        fields.write(into: &json)
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains(expected), "\(text)")
    }

    @Test("every record that the maker's paper lays out is known, and one beside")
    func known() {
        #expect(Set(VictronTable.records.keys) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15])
    }

    @Test("no key, a wrong key, another record and a message cut short are told apart")
    func faults() throws {
        let vector = Self.vectors[7]
        var listener = try Listener(.victron)
        #expect(try listener.hear(vector.bytes, .manufacturerData(0x02e1))?.hasPrefix("no key: the message") == true)
        listener = try Listener(.victron, key: "ff" + vector.key.dropFirst(2))
        #expect(try listener.hear(vector.bytes, .manufacturerData(0x02e1))?.hasPrefix("wrong key: ") == true)
        listener = try Listener(.victron, key: vector.key)
        #expect(
            try listener.hear("100242a00e6207adceb3", .manufacturerData(0x02e1)) == "unknown record 0e, of model a042")
        #expect(
            try listener.hear(String(vector.bytes.dropLast(4)), .manufacturerData(0x02e1))
                == "too short: 9 bits from bit 80 on, 0 are left")
        #expect(try listener.hear("0242a001", .manufacturerData(0x02e1))?.hasPrefix("not a readout: ") == true)
        #expect(try listener.hear(vector.bytes, .manufacturerData(0x0499))?.hasPrefix("not a readout: ") == true)
    }

    @Test("a device whose readout is switched off says its model alone, which has no value and is no fault")
    func switchedOff() throws {
        for key in [nil, Self.vectors[7].key] {
            var listener = try Listener(.victron, key: key)
            #expect(try listener.hear("10000ac0", .manufacturerData(0x02e1)) == nil)
            #expect(
                try listener.hear("10000ac001", .manufacturerData(0x02e1))
                    == "too short: what begins at byte 5 needs 2, 0 are left")
        }
    }

    @Test("ten thousand random and spoilt messages make a value or a sentence")
    func hardy() throws {
        try expectHardy(
            .victron, [.manufacturerData(0x02e1)], seeds: Self.vectors.map(\.bytes), key: Self.vectors[7].key)
    }
}

@Suite("The decoder ruuvi8")
struct Ruuvi8Tests {
    private static let key = "526457452d36091a5275757669546167"
    private static let block = "43825b56324fe019c4bd4d6d3cecac6e"
    /// The document computes the check ae, and writes another one into its whole message.
    private static let message = "08" + block + "ae" + "aabbccddeeff"

    /// The document's own reading of the power is not that of its table, which shifts by five bits and not by four.
    @Test("the example of Ruuvi's document decodes by its table")
    func example() throws {
        var listener = try Listener(.ruuvi8, address: "aabbccddeeff", key: Self.key)
        #expect(
            try listener.hear(Self.message, .manufacturerData(0x0499))
                == #"{"temperature_c":24.58,"humidity_percent":40.54,"pressure_pa":100453,"voltage_v":2.183,"tx_power_dbm":-28,"#
                + #""movements":15,"sequence":6353}"#)
        #expect(
            try listener.hear(Self.message, .manufacturerData(0x0499))?.hasPrefix(
                "repeated counter: it counts 6353 after 6353") == true)
    }

    /// A message that has only a sequence.
    private func message(sequence: Int) throws -> String {
        var plain = [UInt8](repeating: 0, count: 16)
        (plain[10], plain[11]) = (UInt8(sequence >> 8), UInt8(sequence & 255))
        let sealed = try DeviceKey([UInt8](hexadecimal: Self.key))
            .addStream(to: [UInt8](repeating: 0, count: 16)[...]) { _ in plain }
        let check = UInt8(CyclicCheck(width: 8, polynomial: 7).made(of: plain[...]))
        return "08" + sealed.hexadecimal + [check].hexadecimal + "aabbccddeeff"
    }

    @Test("after 65534 the sequence goes on at 0, and a message up to half a round behind is an old one")
    func round() throws {
        var listener = try Listener(.ruuvi8, address: "aabbccddeeff", key: Self.key)
        for sequence in [65_533, 65_534, 0, 1, 30_000, 60_000, 65_535, 2] {
            let told = try listener.hear(message(sequence: sequence), .manufacturerData(0x0499))
            #expect(told?.hasPrefix("{") == true, "\(sequence): \(told ?? "nothing")")
        }
        for sequence in [2, 1, 65_534, 60_000] {
            let told = try listener.hear(message(sequence: sequence), .manufacturerData(0x0499))
            #expect(told?.hasPrefix("repeated counter: it counts \(sequence) after 2") == true, "\(sequence)")
        }
    }

    @Test("no key, a wrong key, another address and a message cut short are told apart")
    func faults() throws {
        var listener = try Listener(.ruuvi8, address: "aabbccddeeff")
        #expect(try listener.hear(Self.message, .manufacturerData(0x0499))?.hasPrefix("no key: the message") == true)
        listener = try Listener(.ruuvi8, address: "aabbccddeeff", key: String(Self.key.reversed()))
        #expect(try listener.hear(Self.message, .manufacturerData(0x0499))?.hasPrefix("wrong key: ") == true)
        listener = try Listener(.ruuvi8, address: "aabbccddeefe", key: Self.key)
        #expect(
            try listener.hear(Self.message, .manufacturerData(0x0499))
                == "another address: the message is of aabbccddeeff")
        #expect(
            try listener.hear("08" + Self.block, .manufacturerData(0x0499))
                == "too short: what begins at byte 17 needs 1, 0 are left")
        listener = try Listener(.ruuvi8, address: "aabbccddeeff", key: Self.key)
        #expect(
            try listener.hear(Self.message + "0007", .manufacturerData(0x0499))?.hasSuffix(#","undecoded":"0007"}"#)
                == true)
        #expect(try listener.hear("05", .manufacturerData(0x0499))?.hasPrefix("not Ruuvi format 8: ") == true)
    }

    @Test("ten thousand random and spoilt messages make a sentence, but for a check that is right by chance")
    func hardy() throws {
        let values = try expectHardy(.ruuvi8, [.manufacturerData(0x0499)], seeds: [Self.message], key: Self.key)
        // One in 256 of the spoilt blocks, and those of which nothing was spoilt that is checked.
        #expect(values < 1_000)
    }
}
