// BTHome against the examples of bthome.io and the pairs of a library's tests.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The decoder bthome")
struct BTHomeTests {
    private static let key = "231d39c1d7cc1ab1aee224cd096db932"
    private static let address = "5448e68f80a5"

    /// The table of bthome.io/format: each object with its example.
    private static let examples: [(String, String)] = [
        ("518756", #"{"acceleration_m_s2":22.151}"#), ("630057d0ff", #"{"acceleration_m_s2":-3.123456}"#),
        ("0161", #"{"battery_percent":97}"#), ("6001", #"{"channel":1}"#), ("12e204", #"{"co2_ppm":1250}"#),
        ("56e803", #"{"conductivity_us_cm":1000}"#), ("0960", #"{"count":96}"#), ("3d0960", #"{"count":24585}"#),
        ("3e2a2c0960", #"{"count":1611213866}"#), ("59ea", #"{"count":-22}"#), ("5aeaea", #"{"count":-5398}"#),
        ("5bea0234ea", #"{"count":-365690134}"#), ("434e34", #"{"current_a":13.39}"#),
        ("5d02ea", #"{"current_a":-5.63}"#), ("08ca06", #"{"dewpoint_c":17.38}"#),
        ("5e9f8c", #"{"direction_deg":359.99}"#), ("400c00", #"{"distance_mm":12}"#),
        ("414e00", #"{"distance_m":7.8}"#), ("424e3400", #"{"duration_s":13.39}"#),
        ("4d12138a14", #"{"energy_kwh":344593.17}"#), ("0a138a14", #"{"energy_kwh":1346.067}"#),
        ("4b138a14", #"{"gas_m3":1346.067}"#), ("4c41018a01", #"{"gas_m3":25821.505}"#),
        ("528756", #"{"gyroscope_deg_s":22.151}"#), ("03bf13", #"{"humidity_percent":50.55}"#),
        ("2e23", #"{"humidity_percent":35}"#), ("05138a14", #"{"illuminance_lx":13460.67}"#),
        ("6402", #"{"light_level":"bright"}"#), ("065e1f", #"{"mass_kg":80.3}"#), ("073e1d", #"{"mass_lb":74.86}"#),
        ("14020c", #"{"moisture_percent":30.74}"#), ("2f23", #"{"moisture_percent":35}"#),
        ("0d120c", #"{"pm2_5_ug_m3":3090}"#), ("0e021c", #"{"pm10_ug_m3":7170}"#), ("0b021b00", #"{"power_w":69.14}"#),
        ("5c02fbffff", #"{"power_w":-12.78}"#), ("5fa00f", #"{"precipitation_mm":400}"#),
        ("04138a01", #"{"pressure_hpa":1008.83}"#),
        ("540c48656c6c6f20576f726c6421", #"{"raw":"48656c6c6f20576f726c6421"}"#),
        ("3f020c", #"{"rotation_deg":307.4}"#), ("61ac0d", #"{"rotational_speed_rpm":3500}"#),
        ("6503", #"{"settings_revision":3}"#), ("444e34", #"{"speed_m_s":133.9}"#),
        ("624099dfff", #"{"speed_m_s":-2.123456}"#), ("57ea", #"{"temperature_c":-22}"#),
        ("58ea", #"{"temperature_c":-7.7}"#), ("451101", #"{"temperature_c":27.3}"#),
        ("02ca09", #"{"temperature_c":25.06}"#), ("530c48656c6c6f20576f726c6421", #"{"text":"Hello World!"}"#),
        ("505d396164", #"{"time":"2023-05-14T19:41:17Z"}"#), ("133301", #"{"tvoc_ug_m3":307}"#),
        ("0c020c", #"{"voltage_v":3.074}"#), ("4a020c", #"{"voltage_v":307.4}"#),
        ("4e87562a01", #"{"volume_l":19551.879}"#),
        ("478756", #"{"volume_l":2215.1}"#), ("48dc87", #"{"volume_ml":34780}"#),
        ("5587562a01", #"{"volume_storage_l":19551.879}"#), ("49dc87", #"{"volume_flow_rate_m3_h":34.78}"#),
        ("4632", #"{"uv_index":5}"#), ("4f87562a01", #"{"water_l":19551.879}"#), ("1501", #"{"battery_low":true}"#),
        ("1601", #"{"battery_charging":true}"#), ("1700", #"{"carbon_monoxide":false}"#), ("1801", #"{"cold":true}"#),
        ("1900", #"{"connected":false}"#), ("1a00", #"{"door_open":false}"#), ("1b01", #"{"garage_door_open":true}"#),
        ("1c01", #"{"gas":true}"#), ("0f01", #"{"on":true}"#), ("1d00", #"{"hot":false}"#),
        ("1e01", #"{"light":true}"#),
        ("1f01", #"{"unlocked":true}"#), ("2001", #"{"wet":true}"#), ("2100", #"{"motion":false}"#),
        ("2201", #"{"moving":true}"#), ("2301", #"{"occupied":true}"#), ("1100", #"{"open":false}"#),
        ("2400", #"{"plugged_in":false}"#), ("1001", #"{"power_on":true}"#), ("2500", #"{"present":false}"#),
        ("2601", #"{"problem":true}"#), ("2701", #"{"running":true}"#), ("2800", #"{"safe":false}"#),
        ("2901", #"{"smoke":true}"#), ("2a00", #"{"sound":false}"#), ("2b00", #"{"tamper":false}"#),
        ("2c01", #"{"vibration":true}"#), ("2d01", #"{"window_open":true}"#), ("3a00", #"{"button":null}"#),
        ("3a01", #"{"button":"press"}"#), ("3a02", #"{"button":"double_press"}"#),
        ("3a03", #"{"button":"triple_press"}"#),
        ("3a04", #"{"button":"long_press"}"#), ("3a05", #"{"button":"long_double_press"}"#),
        ("3a06", #"{"button":"long_triple_press"}"#), ("3a80", #"{"button":"hold_press"}"#),
        ("3b0000", #"{"command":"off","command_steps":null,"command_arguments":""}"#),
        ("3b0001", #"{"command":"on","command_steps":null,"command_arguments":""}"#),
        ("3b0002", #"{"command":"toggle","command_steps":null,"command_arguments":""}"#),
        ("3b010305", #"{"command":"step_up","command_steps":5,"command_arguments":"05"}"#),
        ("3b010405", #"{"command":"step_down","command_steps":5,"command_arguments":"05"}"#),
        ("3c0000", #"{"dimmer":null,"dimmer_steps":null}"#),
        ("3c0103", #"{"dimmer":"rotate_left","dimmer_steps":3}"#),
        ("3c020a", #"{"dimmer":"rotate_right","dimmer_steps":10}"#), ("f00100", #"{"device_type_id":1}"#),
        ("f100010204", #"{"firmware_version":"4.2.1.0"}"#), ("f2000106", #"{"firmware_version":"6.1.0"}"#),
        ("0009", #"{"packet_id":9}"#),
    ]

    private func reading(
        _ hexadecimal: String, service: UInt32 = 0xfcd2, address: String = "a4c1388d18b2", key: String? = nil
    ) throws -> String? {
        var listener = try Listener(.bthome, address: address, key: key)
        return try listener.hear(hexadecimal, .service(service))
    }

    @Test("every object that bthome.io lists decodes as its example says, and no object is without one")
    func examples() throws {
        for (hexadecimal, expected) in Self.examples {
            #expect(try reading("40" + hexadecimal) == expected, "\(hexadecimal)")
        }
        let numbers = Set(Self.examples.compactMap { UInt8($0.0.prefix(2), radix: 16) })
        #expect(numbers == Set(BTHomeTable.objects.keys) && numbers.count == 95)
    }

    @Test("objects of one name make a list in their order, and no event keeps its place in it")
    func lists() throws {
        let three = #"{"temperature_c":[25.06,25.11,22.55],"humidity_percent":[63.27,60.71],"battery_percent":93}"#
        #expect(try reading("4002ca0902cf0902cf0803b71803b717015d") == three)
        #expect(try reading("403a003a013a03") == #"{"button":[null,"press","triple_press"]}"#)
    }

    @Test("an object that is not known ends the reading and comes as it was sent; alone it is a fault")
    func unknown() throws {
        #expect(
            try reading("4001610a138a14fe0102") == #"{"battery_percent":97,"energy_kwh":1346.067,"undecoded":"fe0102"}"#
        )
        #expect(try reading("40fe0102") == "unknown object fe, and none before it")
    }

    @Test(
        "version 1 has lengths and types of its own, and floats of half size",
        arguments: [
            ("2302c409" + "0303bf13", #"{"temperature_c":25,"humidity_percent":50.55}"#),
            ("020161", #"{"battery_percent":97}"#), ("4306fe70", #"{"mass_kg":102.24}"#),
            ("05505d396164", #"{"time":"2023-05-14T19:41:17Z"}"#),
            ("0d5348656c6c6f20576f726c6421", #"{"text":"Hello World!"}"#),
            ("0d5448656c6c6f20576f726c6421", #"{"raw":"48656c6c6f20576f726c6421"}"#),
            ("023a00" + "023a01", #"{"button":[null,"press"]}"#),
            ("033c0103", #"{"dimmer":"rotate_left","dimmer_steps":3}"#),
            ("0200b4" + "021000" + "030cbe0b", #"{"packet_id":180,"power_on":false,"voltage_v":3.006}"#),
            ("02fe07" + "020161", #"{"undecoded":"02fe07","battery_percent":97}"#),
        ] as [(String, String)])
    func first(hexadecimal: String, expected: String) throws {
        #expect(try reading(hexadecimal, service: 0x181c) == expected)
    }

    @Test("what is encrypted opens with the device's key: the example of bthome.io, and one of version 1")
    func opens() throws {
        let both = #"{"temperature_c":25.06,"humidity_percent":50.55}"#
        #expect(try reading("41e445f3c9962b332211006c7c4519", address: Self.address, key: Self.key) == both)
        // With an address of its own, which takes the place of the broadcast's.
        #expect(
            try reading("43a5808fe64854f196c06ffb4900112233f08ecbde", address: "010203040506", key: Self.key) == both)
        let old = try reading(
            "fba435e4d3c312fb0011223357d90a99", service: 0x181e, address: Self.address, key: Self.key)
        #expect(old == both)
    }

    @Test("no key, a key of another length, a wrong key, a repeated counter and a plain message are told apart")
    func faults() throws {
        let sealed = "41e445f3c9962b332211006c7c4519"
        #expect(try reading(sealed, address: Self.address)?.hasPrefix("no key: the message is encrypted") == true)
        #expect(
            try reading(sealed, address: Self.address, key: "231d39c1d7cc1ab1aee224cd")
                == "no key: the key in keys.json5 has 12 bytes, this device's has 16")
        let wrong = try reading(sealed, address: Self.address, key: "814aac74c4f17b6c1581e1ab87816b99")
        #expect(wrong?.hasPrefix("wrong key: ") == true)
        #expect(try reading(sealed, address: "5448e68f80a6", key: Self.key)?.hasPrefix("wrong key: ") == true)
        var listener = try Listener(.bthome, address: Self.address, key: Self.key)
        #expect(try listener.hear(sealed, .service(0xfcd2))?.hasPrefix("{") == true)
        #expect(
            try listener.hear(sealed, .service(0xfcd2))
                == "repeated counter: it counts 1122867 after 1122867, so it is an old message, or the device restarted"
        )
        #expect(try listener.hear("400161", .service(0xfcd2))?.hasPrefix("not encrypted: ") == true)
    }

    @Test("a message that a stranger sends with a high counter does not keep the device's own from being heard")
    func forged() throws {
        var listener = try Listener(.bthome, address: Self.address, key: Self.key)
        #expect(try listener.hear("41e445f3c9962bffffffff6c7c4519", .service(0xfcd2))?.hasPrefix("wrong key") == true)
        #expect(try listener.hear("41e445f3c9962b332211006c7c4519", .service(0xfcd2))?.hasPrefix("{") == true)
    }

    @Test(
        "bytes that do not fit make no value",
        arguments: [
            ("", "too short: what begins at byte 0 needs 1, 0 are left"), ("40", "empty: it holds no object"),
            ("4002ca", "too short: what begins at byte 1 needs 2, 1 are left"),
            ("400f02", "object 0f must be 0 or 1; got 2"),
            ("60015d", "unknown version: byte 0 says BTHome 3, known is 2"),
            ("405302ff41", "not text: object 53 is not UTF-8"),
            ("40530441c3bcc3", #"{"text":"Aü","undecoded":"c3"}"#),
            ("405303414243ff", #"{"text":"ABC","undecoded":"ff"}"#),
            ("41e445", "too short: what begins at byte 0 needs 9, 2 are left"),
        ] as [(String, String)])
    func unfit(hexadecimal: String, expected: String) throws {
        #expect(try reading(hexadecimal) == expected)
    }

    @Test("whatever byte of a sealed message is changed, it opens no more")
    func changed() throws {
        let sealed = try #require([UInt8](hexadecimal: "41e445f3c9962b332211006c7c4519"))
        for index in sealed.indices.dropFirst() {
            var spoilt = sealed
            spoilt[index] ^= 0x10
            let text = try reading(spoilt.hexadecimal, address: Self.address, key: Self.key)
            #expect(text?.hasPrefix("wrong key") == true)
        }
    }

    @Test("ten thousand random and spoilt messages make a value or a sentence, and none of the encrypted a value")
    func hardy() throws {
        let seeds = Self.examples.map { "40" + $0.0 }
        let values = try expectHardy(.bthome, [.service(0xfcd2), .service(0x181c), .service(0x181e)], seeds: seeds)
        #expect(values > 0)
        let sealed = try expectHardy(
            .bthome, [.service(0xfcd2), .service(0x181e)], seeds: ["41e445f3c9962b332211006c7c45"],
            address: Self.address,
            key: Self.key)
        #expect(sealed == 0)
    }
}

/// The pairs of bthome-ble's own tests.
@Suite("bthome against published pairs", .enabled(unless: Oracles.hindrance))
struct BTHomeOracleTests {
    private static let names: [String: String] = [
        "KEY_TEMPERATURE": "temperature_c", "KEY_HUMIDITY": "humidity_percent", "KEY_BATTERY": "battery_percent",
        "KEY_PACKET_ID": "packet_id", "KEY_PRESSURE": "pressure_hpa", "KEY_ILLUMINANCE": "illuminance_lx",
        "KEY_MASS": "mass_kg", "KEY_ENERGY": "energy_kwh", "KEY_POWER": "power_w", "KEY_BINARY_GENERIC": "on",
        "KEY_CO2": "co2_ppm", "KEY_BUTTON": "button", "KEY_VOLTAGE": "voltage_v", "power": "power_on",
        "KEY_LIGHT": "light", "KEY_BINARY_MOTION": "motion", "KEY_DISTANCE": "distance_m", "KEY_SPEED": "speed_m_s",
        "KEY_UV_INDEX": "uv_index", "KEY_GAS": "gas_m3", "KEY_WATER": "water_l",
        "KEY_ACCELERATION": "acceleration_m_s2",
        "KEY_TEXT": "text", "KEY_CONDUCTIVITY": "conductivity_us_cm", "KEY_COUNT": "count", "KEY_CURRENT": "current_a",
    ]

    /// The field, and its place in a list where the library numbers them.
    private func place(of name: String, in pair: Oracles.Pair) -> (field: String, index: Int?) {
        // The library names millilitres and litres alike.
        if name == "KEY_VOLUME" { return (pair.test.contains("milliliters") ? "volume_ml" : "volume_l", nil) }
        let parts = name.split(separator: "_")
        if let number = Int(parts.last ?? ""), let field = Self.names["KEY_\(parts[0].uppercased())"] {
            return (field, number - 1)
        }
        return (Self.names[name] ?? name, nil)
    }

    @Test("every pair decodes exactly, and gives nothing beside")
    func pairs() throws {
        var (read, refused) = (0, 0)
        for pair in try Oracles.pairs(of: "bthome-ble") {
            let isFirst = pair.file.hasSuffix("v1.py")
            let (service, bytes) = try #require(Self.message(of: pair, isFirst: isFirst))
            var listener = try Listener(.bthome, address: pair.address, key: pair.key)
            let heard = listener.hear(bytes, .service(service))
            let text = try #require(heard, "\(pair)")
            guard pair.test != "test_bindkey_wrong" else {
                #expect(text.hasPrefix("wrong key: ") && pair.expected.isEmpty, "\(pair): \(text)")
                refused += 1
                continue
            }
            let value = try #require(try? JSONValue(parsing: Array(text.utf8)), "\(pair): \(text)")
            var rest = Set(Self.leaves(of: value))
            for (name, expected) in pair.expected {
                let (field, index) = place(of: name, in: pair)
                let found = index.flatMap { place in value[field]?.array?[place] } ?? value[field]
                #expect(found?.isNear(expected) == true, "\(pair): \(name) is \(expected), read \(text)")
                rest.remove("\(field) \(index ?? 0)")
            }
            // No event of a button that was not pressed is told by the library.
            #expect(rest.isEmpty || text == #"{"button":[null,"press","triple_press"]}"#, "\(pair): \(rest)")
            read += 1
        }
        print("bthome: \(read) published pairs decoded, \(refused) with a wrong key refused, of \(read + refused)")
        #expect(read + refused == 46)
    }

    private static func message(of pair: Oracles.Pair, isFirst: Bool) -> (UInt32, [UInt8])? {
        for service in [0xfcd2, 0x181c, 0x181e] as [UInt32] {
            if let bytes = pair.data[service] { return (service, bytes) }
        }
        guard let bytes = pair.data[0] else { return nil }
        return (isFirst ? (pair.key == nil ? 0x181c : 0x181e) : 0xfcd2, bytes)
    }

    private static func leaves(of value: JSONValue) -> [String] {
        guard case .object(let members) = value else { return [] }
        return members.flatMap { member in
            (0..<(member.value.array?.count ?? 1)).map { "\(member.name) \($0)" }
        }
    }
}
