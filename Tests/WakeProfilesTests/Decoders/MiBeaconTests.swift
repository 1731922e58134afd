// MiBeacon against the vectors and pairs of xiaomi-ble's tests.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder mibeacon")
struct MiBeaconTests {
    private struct Vector {
        var bytes: String
        var address: String
        var key: String?
        var value: String
    }

    /// Of xiaomi-ble's tests, which name the device.
    private static let vectors = [
        Vector(
            bytes: "50305b05034c94b438c1a40d10041001ea01", address: "a4c138b4944c",
            value: #"{"model":"LYWSD03MMC","temperature_c":27.2,"humidity_percent":49}"#),
        Vector(
            bytes: "58585b0550f4830238c1a495ef58763c26000097e2abb5", address: "a4c1380283f4",
            key: "e9ea895fac7cca6d30532432a516f3a8", value: #"{"model":"LYWSD03MMC","humidity_percent":46}"#),
        Vector(
            bytes: "5040681501016815" + "38c1a4011003000000", address: "a4c138156801",
            value: #"{"model":"K9B-1BTN","button":"press"}"#),
        Vector(
            bytes: "5040691501016915" + "38c1a4011003020000", address: "a4c138156901",
            value: #"{"model":"K9B-2BTN","button_left":"press","button_right":"press"}"#),
        Vector(
            bytes: "5040fd0d0101fd0d" + "38c1a4011003060001", address: "a4c1380dfd01",
            value:
                #"{"model":"K9B-3BTN","button_left":"long_press","button_middle":"long_press","button_right":"long_press"}"#
        ),
        Vector(
            bytes: "5830b603368b98c54124f88bb8f2661351000000d6", address: "f82441c5988b",
            key: "b853075158487ca39a5b5ea9",
            value: #"{"model":"YLKG07YL","dimmer":"rotate_left","dimmer_steps":1}"#),
        Vector(
            bytes: "5830b603d28b98c54124f8c3491476757e00000099", address: "f82441c5988b",
            key: "b853075158487ca39a5b5ea9",
            value: #"{"model":"YLKG07YL","dimmer":"press","dimmer_presses":1}"#),
        Vector(
            bytes: "50449e0643918aeb441fd70b000920020001807c442f61", address: "d71f44eb8a91",
            value: #"{"model":"ZNMS16LM","lock_open":true,"lock_action":"unlock_outside_the_door","#
                + #""lock_method":"biometrics","key_id":"Fingerprint key id 2","time":"2021-09-01T09:14:36Z"}"#),
    ]

    private func reading(_ bytes: String, address: String, key: String? = nil) throws -> String? {
        var listener = try Listener(.mibeacon, address: address, key: key)
        return try listener.hear(bytes, .service(0xfe95))
    }

    @Test("the vectors of xiaomi-ble decode: plain, encrypted with and without a tag, buttons, dimmers and locks")
    func vectors() throws {
        for vector in Self.vectors {
            #expect(try reading(vector.bytes, address: vector.address, key: vector.key) == vector.value)
        }
    }

    /// Objects of a product that is not known, and one of each form.
    @Test(
        "every object has its reading",
        arguments: [
            ("03000100", #""motion":true"#),
            (
                "0600 05 00000000 00",
                #""fingerprint_matches":true,"key_id":"administrator","fingerprint":"match_successful""#
            ),
            ("0700 01 00", #""door_open":true,"stuck":false,"knock":false"#),
            ("0700 01 01", #""door_open":false,"left_open":false,"pried":false"#),
            ("0700 01 02", #""door_open":true,"left_open":true"#), ("0700 01 03", #""door_open":false,"knock":true"#),
            ("0700 01 04", #""door_open":true,"pried":true"#), ("0700 01 05", #""door_open":false,"stuck":true"#),
            ("0800 01 01", #""armed":false"#), ("0a00 02 640e", #""temperature_c":36.84"#),
            (
                "0b00 09 1f 0a00dec0 00000000",
                #""lock_open":true,"lock_action":"abnormal","lock_method":"password","lock_error":"#
            ),
            ("0f00 03 100000", #""motion":true,"illuminance_lx":16"#),
            ("1000 02 0007", #""brushing":true,"counter":7"#),
            ("1000 02 0107", #""brushing":false,"score":7"#), ("0410 02 c4ff", #""temperature_c":-6"#),
            ("0510 02 0119", #""power_on":true,"temperature_c":25"#), ("0610 02 4302", #""humidity_percent":57.9"#),
            ("0710 03 010000", #""illuminance_lx":1"#), ("0810 01 20", #""moisture_percent":32"#),
            ("0910 02 5802", #""conductivity_us_cm":600"#), ("1010 02 0100", #""formaldehyde_mg_m3":0.01"#),
            ("1210 01 01", #""power_on":true"#), ("1310 01 46", #""consumable_percent":70"#),
            ("1410 01 01", #""wet":true"#),
            ("1510 01 00", #""smoke":false"#), ("1710 04 78000000", #""motion":false,"idle_s":120"#),
            ("1810 01 01", #""light":true"#), ("1910 01 00", #""open":true"#),
            ("1910 01 01", #""open":false,"left_open":false"#),
            ("1910 01 02", #""open":true,"left_open":true"#), ("1910 01 03", #""reset":true"#),
            ("0a10 01 5d", #""battery_percent":93"#),
            ("0d10 04 f600 c801", #""temperature_c":24.6,"humidity_percent":45.6"#),
            ("0e10 01 09", #""lock_attributes":9"#),
            ("1b10 04 78000000", #""motion":false,"idle_s":120"#),
            ("0020 05 c60d 630d 51", #""temperature_c":36.87,"battery_percent":81"#),
            ("0330 06 00 7c442f61 00", #""brushing":true,"time":"2021-09-01T09:14:36Z","score":0"#),
            ("0148 04 0000c841", #""temperature_c":25"#), ("0248 01 40", #""humidity_percent":64"#),
            ("0348 01 64", #""battery_percent":100"#),
            ("0448 01 02", #""open":false,"left_open":false,"forcibly_removed":false"#),
            ("0548 04 00002d43", #""illuminance_lx":173"#),
            ("0648 01 01", #""wet":true"#), ("0848 04 00003e42", #""humidity_percent":47.5"#),
            ("0c48 01 00", #""open":true"#),
            ("1848 02 3c00", #""motion":false,"idle_s":60"#), ("3c48 01 01", #""occupied":true"#),
            ("3d48 04 78000000", #""occupied_s":120"#),
            ("3e48 04 78000000", #""unoccupied_s":120"#), ("4e48 01 02", #""occupied":true"#),
            ("5148 01 02", #""occupied_min":2"#),
            ("5248 01 05", #""unoccupied_min":5"#), ("7b48 01 01", #""wet_top":true"#),
            ("014a 01 01", #""battery_low":true"#),
            ("084a 04 00002041", #""motion":true,"illuminance_lx":10"#), ("0c4a 00", #""button":"press""#),
            ("0d4a 00", #""button":"double_press""#),
            ("0e4a 00", #""button":"long_press""#), ("0f4a 01 01", #""open":true,"forcibly_removed":true"#),
            ("124a 01 01", #""open":true"#),
            ("134a 01 01", #""button":"press""#), ("1a4a 01 01", #""open":true,"left_open":true"#),
            ("684a 01 00", #""wet_bottom":true"#),
            ("684a 01 03", #""wet_top":false"#), ("014c 04 cdcccc41", #""temperature_c":25.6"#),
            ("024c 01 2f", #""humidity_percent":47"#),
            ("034c 01 64", #""battery_percent":100"#), ("084c 04 66663e42", #""humidity_percent":47.6"#),
            ("144c 01 02", #""mode":2"#),
            ("014e 01 00", #""battery_low":false"#),
            ("164e 09 01 881c0000 7c442f61", #""mass_kg":73.04,"profile_id":1"#), ("1c4e 01 01", #""reset":true"#),
            ("0350 01 64", #""battery_percent":100"#), ("1454 01 03", #""mode":3"#),
            ("2254 01 02", #""charging":"full""#),
            ("1058 01 00", #""asleep":true"#), ("6164 01 01", #""wearing":false"#),
            ("166e 09 01 df024d4a 00000000", #""profile_id":1,"mass_kg":73.5,"heart_rate_bpm":"#),
            ("0110 03 000000", #""undecoded":"011003000000""#), ("0c4e 01 01", #""undecoded":"0c4e0101""#),
            ("0c56 01 01", #""undecoded":"0c560101""#), ("1354 01 01", #""undecoded":"13540101""#),
            ("ffff 02 0102", #""undecoded":"ffff020102""#),
        ] as [(String, String)])
    func objects(object: String, expected: String) throws {
        let text = try reading("4050efbe01" + object, address: "a4c138000001")
        #expect(text?.hasPrefix(#"{"product":"beef","# + expected) == true, "\(object): \(text ?? "nothing")")
    }

    @Test("there are 76 objects, each with a reading")
    func count() {
        #expect(MiBeaconTable.objects.count == 76)
    }

    @Test("a model's own readings: switches, remotes, locks and scales")
    func models() throws {
        let readings = [
            // XMWXKG01YL, KS1, K9BB-1BTN, XMWS01XS, YLYK01YL, XMMF01JQD, ES5BB, SJWS02LM, RTCGQ02LM, ZNMS17LM, DSL-C08.
            ("4919", "0c4e0103", #""button_left":"press","button_right":"press""#),
            ("613a", "0e560104", #""button_right":"long_press""#),
            ("101c", "0c4e010f", #""button":"double_press""#), ("6859", "0d4a0101", #""button_right":"double_press""#),
            ("5301", "011003010002", #""power_on":false,"button_off":"long_press""#),
            ("e104", "011003010000", #""cube":"rotate_left""#),
            ("0f6a", "13540101", #""occupied_close_range":true"#), ("7563", "06480101", #""wet_bottom":true"#),
            ("8d0a", "0f0003000100", #""motion":true,"light":true"#),
            ("9f06", "0b00091600000000" + "7c442f61", #""child_lock_open":false"#),
            ("8003", "0e100101", #""lock_open":false,"child_lock_open":true"#),
        ]
        for (product, object, expected) in readings {
            let text = try reading("4050\(product)01\(object)", address: "a4c138000001")
            #expect(text?.contains(expected) == true, "\(product) \(object): \(text ?? "nothing")")
        }
    }

    @Test("a device that only shows itself has no value, and that is no fault")
    func silent() throws {
        #expect(try reading("3058" + "5b0501", address: "a4c138000001") != nil)
        #expect(try reading("1050" + "5b0501" + "010000" + "38c1a4", address: "a4c138000001") == nil)
    }

    @Test("no key, a key of another length, a wrong key and a repeated counter are told apart, with a tag and without")
    func faults() throws {
        for vector in Self.vectors where vector.key != nil {
            #expect(
                try reading(vector.bytes, address: vector.address)?.hasPrefix("no key: the message is encrypted")
                    == true)
            #expect(
                try reading(vector.bytes, address: vector.address, key: "00")?.hasPrefix(
                    "no key: the key in keys.json5 has 1 byte") == true)
            let wrong = try #require(vector.key.map { String($0.reversed()) })
            #expect(try reading(vector.bytes, address: vector.address, key: wrong)?.hasPrefix("wrong key: ") == true)
            var listener = try Listener(.mibeacon, address: vector.address, key: vector.key)
            #expect(try listener.hear(vector.bytes, .service(0xfe95)) == vector.value)
            #expect(try listener.hear(vector.bytes, .service(0xfe95))?.hasPrefix("repeated counter: ") == true)
        }
    }

    @Test(
        "bytes that do not fit make no value",
        arguments: [
            ("5040", "too short: what begins at byte 2 needs 2, 0 are left"),
            ("4010efbe01", "unknown version: the frame says MiBeacon 1, known are 2 to 5"),
            ("c050efbe01" + "0a10015d", "a frame of a mesh, which holds no measurements"),
            ("4050efbe01", "empty: it holds no object"),
            ("4050efbe01" + "0410020a", "too short: what begins at byte 3 needs 2, 1 are left"),
            ("4050efbe01" + "0410030a0000", "object 1004 has 3 bytes, which do not fit it"),
            ("5050efbe01" + "020000" + "38c1a4" + "0a10015d", "another address: the frame is of a4c138000002"),
        ] as [(String, String)])
    func unfit(bytes: String, expected: String) throws {
        #expect(try reading(bytes, address: "a4c138000001") == expected)
    }

    @Test(
        "ten thousand random and spoilt frames make a value or a sentence, and none of the encrypted with a tag a value"
    )
    func hardy() throws {
        let plain = Self.vectors.filter { $0.key == nil }.map(\.bytes)
        #expect(try expectHardy(.mibeacon, [.service(0xfe95)], seeds: plain) > 0)
        let sealed = try #require([UInt8](hexadecimal: "58585b0550f4830238c1a495ef58763c26000097e2abb5"))
        var dice = Dice(30)
        for _ in 0..<10_000 {
            var listener = try Listener(.mibeacon, address: "a4c1380283f4", key: "e9ea895fac7cca6d30532432a516f3a8")
            var spoilt = sealed
            // What stands before tells whether it is encrypted, and of which device it is.
            spoilt[4 + (dice.isOne(in: 4) ? 0 : 7 + dice.below(12))] ^= UInt8(1 + dice.below(255))
            #expect(listener.hear(spoilt, .service(0xfe95))?.hasPrefix("wrong key: ") == true)
        }
    }
}

/// The pairs of xiaomi-ble's own tests.
@Suite("mibeacon against published pairs", .enabled(unless: Oracles.hindrance))
struct MiBeaconOracleTests {
    private static let names: [String: String] = [
        "KEY_TEMPERATURE": "temperature_c", "KEY_HUMIDITY": "humidity_percent", "KEY_BATTERY": "battery_percent",
        "KEY_SMOKE": "smoke", "KEY_CONDUCTIVITY": "conductivity_us_cm", "KEY_MOISTURE": "moisture_percent",
        "KEY_BINARY_OPENING": "open", "KEY_BINARY_DOOR_LEFT_OPEN": "left_open", "KEY_BINARY_MOTION": "motion",
        "KEY_BINARY_LIGHT": "light", "KEY_ILLUMINANCE": "illuminance_lx", "KEY_COUNTER": "counter",
        "KEY_BINARY_TOOTHBRUSH": "brushing", "KEY_KEY_ID": "key_id", "KEY_BINARY_FINGERPRINT": "fingerprint_matches",
        "KEY_EVENT_FINGERPRINT": "fingerprint", "KEY_LOCK_METHOD": "lock_method", "KEY_BINARY_LOCK": "lock_open",
        "lock": "lock_action", "KEY_EVENT_LOCK": "lock_action", "KEY_POWER": "power_on", "KEY_EVENT_DIMMER": "dimmer",
        "KEY_EVENT_BUTTON": "button", "KEY_EVENT_BUTTON_LEFT": "button_left", "key_button_right": "button_right",
        "key_button_middle": "button_middle", "KEY_BINARY_DOOR": "door_open", "KEY_BINARY_PRY_THE_DOOR": "pried",
        "KEY_BINARY_ARMED": "armed", "KEY_IMPEDANCE_HIGH": "impedance_high_ohm", "KEY_PROFILE_ID": "profile_id",
        "KEY_STABILIZED": "stabilized", "KEY_BINARY_OCCUPANCY": "occupied", "KEY_SCORE": "score",
        "KEY_CHARGING_STATE": "charging", "KEY_BINARY_OCCUPANCY_CLOSE_RANGE": "occupied_close_range",
        "KEY_DURATION_DETECTED": "occupied_min", "KEY_PRESSURE_NOT_PRESENT_DURATION": "unoccupied_s",
    ]
    /// What we tell and the library does not: the model, times, and how often or how long.
    private static let more: Set = ["model", "time", "idle_s", "dimmer_steps", "dimmer_presses"]
    /// These list the last of a test's three messages beside the values of the first two.
    private static let mixed: Set<Int64> = [3_272, 3_300]

    @Test("every pair decodes exactly, and gives nothing beside but what the library leaves out")
    func pairs() throws {
        var (read, refused, scales, mixed) = (0, 0, 0, 0)
        for pair in try Oracles.pairs(of: "xiaomi-ble") {
            // Two scales that broadcast in services of their own; a field list says them.
            guard let bytes = pair.data[0] else {
                scales += 1
                continue
            }
            guard !Self.mixed.contains(pair.line) else {
                mixed += 1
                continue
            }
            var listener = try Listener(.mibeacon, address: pair.address, key: pair.key)
            let heard = listener.hear(bytes, .service(0xfe95))
            let text = try #require(heard, "\(pair)")
            guard !pair.test.hasPrefix("test_bindkey_wrong") else {
                #expect(text.hasPrefix("wrong key: ") && pair.expected.isEmpty, "\(pair): \(text)")
                refused += 1
                continue
            }
            try compare(text, pair)
            read += 1
        }
        print(
            "mibeacon: \(read) published pairs decoded, \(refused) with a wrong key refused; \(scales) of other services and"
                + " \(mixed) whose bytes are not those of their values left out, of \(read + refused + scales + mixed)")
        #expect(read + refused + scales + mixed == 60 && read == 50)
    }

    private func compare(_ text: String, _ pair: Oracles.Pair) throws {
        let value = try #require(try? JSONValue(parsing: Array(text.utf8)), "\(pair): \(text)")
        guard case .object(let members) = value else { throw Oracles.Missing() }
        var rest = Set(members.map(\.name)).subtracting(Self.more)
        // The library makes a voltage up from the percentage of the battery; no byte says it.
        for (name, expected) in pair.expected where name != "voltage" {
            let field = Self.names[name] ?? name
            #expect(value[field]?.isNear(expected) == true, "\(pair): \(name) is \(expected), read \(text)")
            rest.remove(field)
        }
        #expect(rest.isEmpty, "\(pair): \(rest)")
    }
}
