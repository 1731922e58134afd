// MiBeacon objects of doors, windows and locks.
import WakeModel

extension MiBeaconObjects {
    func addEntry(_ form: MiBeaconForm, _ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        switch form {
        case .fingerprint:
            let bytes = try data.exactly(5)
            let result = Int64(bytes.suffix(1).littleEndianNumber)
            fields.add("fingerprint_matches", result == 0)
            fields.add("key_id", Self.operatorName(bytes.prefix(4)) ?? "\(bytes.prefix(4).littleEndianNumber)")
            fields.add("fingerprint", .word(result, of: Self.fingerprints))
        case .door: try addDoor(data, to: &fields)
        case .opening: try addOpening(data, to: &fields)
        case .openState:
            let state = try data.byte()
            guard state == 1 || state == 2 else { return fields.add("undecoded", .bytes(data.whole)) }
            fields.add("open", state == 1)
            if state == 2 {
                fields.add("left_open", false)
                fields.add("forcibly_removed", false)
            }
        case .contact:
            let state = try data.byte()
            guard state <= 1 else { return fields.add("undecoded", .bytes(data.whole)) }
            fields.add("open", state == 0)
        case .armed:
            let isArmed = try data.between(1...5).first == 0
            fields.add("armed", isArmed)
            // Lifting the handle from outside.
            if model == "DSL-C08" {
                fields.add("lock_open", isArmed)
                fields.add("lock_action", "lock_outside_the_door")
                fields.add("lock_method", "manual")
            }
        case .lock: try addLock(data.exactly(9), data, to: &fields)
        case .lockAttributes:
            let bits = try data.byte()
            guard model == "DSL-C08" else { return fields.add("lock_attributes", bits) }
            fields.add("lock_open", bits & 1 == 0)
            fields.add("child_lock_open", bits >> 3 & 1 == 0)
        default: return
        }
    }

    private func addDoor(_ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        switch try data.between(1...5).first {
        case 0: add(["door_open": true, "stuck": false, "knock": false], to: &fields)
        case 1: add(["door_open": false, "left_open": false, "pried": false], to: &fields)
        case 2: add(["door_open": true, "left_open": true], to: &fields)
        case 3: add(["door_open": false, "knock": true], to: &fields)
        case 4: add(["door_open": true, "pried": true], to: &fields)
        case 5: add(["door_open": false, "stuck": true], to: &fields)
        default: fields.add("undecoded", .bytes(data.whole))
        }
    }

    private func addOpening(_ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        switch try data.byte() {
        case 0: add(["open": true], to: &fields)
        case 1: add(["open": false, "left_open": false], to: &fields)
        case 2: add(["open": true, "left_open": true], to: &fields)
        case 3: add(["reset": true], to: &fields)
        default: fields.add("undecoded", .bytes(data.whole))
        }
    }

    private func add(_ flags: KeyValuePairs<String, Bool>, to fields: inout DecodedFields) {
        for (name, flag) in flags { fields.add(name, flag) }
    }

    private func addLock(_ bytes: ArraySlice<UInt8>, _ data: MiBeaconData, to fields: inout DecodedFields) {
        let first = bytes[bytes.startIndex]
        guard let action = Self.actions[first & 15], let method = Self.methods[first >> 4] else {
            return fields.add("undecoded", .bytes(data.whole))
        }
        let id = bytes.dropFirst().prefix(4)
        // Only one lock distinguishes its bolts.
        fields.add(model == "ZNMS17LM" ? action.bolt : "lock_open", action.isOpen)
        fields.add("lock_action", action.name)
        fields.add("lock_method", method)
        let error = Self.errors[UInt32(truncatingIfNeeded: id.littleEndianNumber)]
        if let error { fields.add("lock_error", error) } else { fields.add("key_id", Self.keyName(id)) }
        fields.add("time", .time(unixSeconds: Int64(bytes.suffix(4).littleEndianNumber)))
    }

    private static func operatorName(_ id: ArraySlice<UInt8>) -> String? {
        switch id.littleEndianNumber {
        case 0: "administrator"
        case 0xffff_ffff: "unknown operator"
        // Sent highest first, unlike a number.
        case 0xdead_beef, 0xefbe_adde: "invalid operator"
        default: nil
        }
    }

    private static func keyName(_ id: ArraySlice<UInt8>) -> String {
        if let name = operatorName(id) { return name }
        let number = id.littleEndianNumber
        guard number > 0x7fff_ffff else { return "Bluetooth key \(number)" }
        let kinds = [
            "Fingerprint", "Password", "Keys", "NFC", "Two-step verification", "Human face", "Finger veins",
            "Palm print",
        ]
        let kind = Int(number >> 16 & 0x7fff)
        // The first kind has the number 1; 0 is taken for it too.
        let name = kind <= kinds.count ? kinds[max(0, kind - 1)] + " key id" : "key id"
        return "\(name) \(number & 0xffff)"
    }

    private static let fingerprints: [Int64: String] = [
        0: "match_successful", 1: "match_failed", 2: "timeout", 3: "low_quality_too_light_fuzzy",
        4: "insufficient_area", 5: "skin_is_too_dry", 6: "skin_is_too_wet",
    ]

    private static let actions: [UInt8: (isOpen: Bool, bolt: String, name: String)] = [
        0: (true, "lock_open", "unlock_outside_the_door"), 1: (false, "lock_open", "locked"),
        2: (false, "antilock_open", "turn_on_antilock"), 3: (true, "antilock_open", "release_the_antilock"),
        4: (true, "lock_open", "unlock_inside_the_door"), 5: (false, "lock_open", "lock_inside_the_door"),
        6: (false, "child_lock_open", "turn_on_child_lock"), 7: (true, "child_lock_open", "turn_off_child_lock"),
        8: (false, "lock_open", "lock_outside_the_door"), 15: (true, "lock_open", "abnormal"),
    ]

    private static let methods: [UInt8: String] = [
        0: "bluetooth", 1: "password", 2: "biometrics", 3: "key", 4: "turntable", 5: "nfc",
        6: "one_time_password", 7: "two_step_verification", 8: "coercion", 9: "homekit", 10: "manual",
        11: "automatic", 15: "abnormal",
    ]

    private static let errors: [UInt32: String] = [
        0xc0de_0000: "wrong_password_often", 0xc0de_0001: "wrong_fingerprint_often",
        0xc0de_0002: "password_timeout", 0xc0de_0003: "lock_picking", 0xc0de_0004: "reset_button_pressed",
        0xc0de_0005: "wrong_key_often", 0xc0de_0006: "keyhole_blocked", 0xc0de_0007: "key_left_in_lock",
        0xc0de_0008: "wrong_nfc_often", 0xc0de_0009: "not_locked_in_time", 0xc0de_000a: "wrong_in_several_ways_often",
        0xc0de_000b: "wrong_face_often", 0xc0de_000c: "wrong_vein_often", 0xc0de_000d: "hijacking_alarm",
        0xc0de_000e: "unlocked_inside_after_arming", 0xc0de_000f: "wrong_palm_often", 0xc0de_0010: "safe_moved",
        0xc0de_1000: "battery_below_10_percent", 0xc0de_1001: "battery_below_5_percent",
        0xc0de_1002: "fingerprint_sensor_abnormal", 0xc0de_1003: "accessory_battery_low",
        0xc0de_1004: "mechanical_failure", 0xc0de_1005: "lock_sensor_faulty",
    ]
}
