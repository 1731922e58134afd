// MiBeacon objects of buttons, remotes, cubes and dimmers, whose numbers each model has for itself.
import WakeModel

struct MiBeaconButtons {
    let model: String

    private enum Sense {
        case plain
        case keys([String])
        case sets([[String]])
        case cube, dimmer
    }

    private var sense: Sense? {
        switch model {
        case "RTCGQ02LM", "YLAI003", "JTYJGD03MI", "SJWS01LM": .plain
        case "YLYK01YL": .keys(["on", "off", "brightness", "plus", "m", "min"])
        case "YLYK01YL-FANCL":
            .keys(["fan", "light", "wind_speed", "color_temperature", "wind_mode", "brightness"])
        case "YLYK01YL-VENFAN":
            .keys([
                "swing", "power", "timer_60_minutes", "increase_wind_speed", "timer_30_minutes",
                "decrease_wind_speed",
            ])
        case "YLYB01YL-BHFRC":
            .keys([
                "stop", "air_exchange", "fan", "increase_speed", "decrease_speed", "dry", "light", "swing", "heat",
            ])
        case "K9B-1BTN": .sets([[""]])
        case "K9B-2BTN": .sets([["_left"], ["_right"], ["_left", "_right"]])
        case "K9B-3BTN":
            .sets([
                ["_left"], ["_middle"], ["_right"], ["_left", "_middle"], ["_middle", "_right"], ["_left", "_right"],
                ["_left", "_middle", "_right"],
            ])
        case "XMMF01JQD": .cube
        case "YLKG07YL": .dimmer
        default: nil
        }
    }

    /// Object 1001: the button, a value, and the kind of press.
    func add(_ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        let bytes = Array(try data.exactly(3))
        let (button, value, press) = (Int(bytes[0]), bytes[1], bytes[2])
        switch sense {
        case .plain:
            if let press = Self.presses[press] { return fields.add("button", press) }
        case .keys(let names):
            guard names.indices.contains(button), let press = Self.presses[press] else { break }
            if button <= 1, model == "YLYK01YL" { fields.add("power_on", button == 0) }
            return fields.add("button_\(names[button])", press)
        case .sets(let sets):
            guard sets.indices.contains(button), let press = Self.switchPresses[press] else { break }
            for name in sets[button] { fields.add("button\(name)", press) }
            return
        case .cube:
            if button <= 1 { return fields.add("cube", button == 0 ? "rotate_right" : "rotate_left") }
        case .dimmer:
            if addDimmer(bytes[0], value, press, to: &fields) { return }
        case nil: break
        }
        fields.add("undecoded", .bytes(data.whole))
    }

    private static let presses: [UInt8: String] = [
        0: "press", 1: "double_press", 2: "long_press", 5: "press", 6: "long_press",
    ]
    private static let switchPresses: [UInt8: String] = [0: "press", 1: "long_press", 2: "double_press"]

    private func addDimmer(_ button: UInt8, _ value: UInt8, _ press: UInt8, to fields: inout DecodedFields) -> Bool {
        switch (press, button) {
        case (3, 0):
            fields.add("dimmer", "press")
            fields.add("dimmer_presses", value)
        case (3, 1):
            fields.add("dimmer", "long_press")
            fields.add("dimmer_held_s", value)
        case (4, _):
            // If it is turned while pressed, the steps are in the button's byte.
            let steps = Int8(bitPattern: button == 0 ? value : button)
            fields.add("dimmer", (steps < 0 ? "rotate_left" : "rotate_right") + (button == 0 ? "" : "_pressed"))
            fields.add("dimmer_steps", steps.magnitude)
        default: return false
        }
        return true
    }

    /// Objects that mean a kind of press, each with the number of a button that some models have.
    func buttons(of data: MiBeaconData, _ press: MiBeaconPress) -> [(name: String, event: String)] {
        let number = data.bytes.first
        switch (data.number >> 8, model) {
        case (0x4a, "XMWS01XS"):
            return number == 0
                ? [("button_left", press.rawValue)] : number == 1 ? [("button_right", press.rawValue)] : []
        case (0x4a, _), (0x4e, "XMWXKG01LM"), (0x56, "KS2BB"): return [("button", press.rawValue)]
        case (0x4e, "XMWXKG01YL"):
            let names = [1: ["left"], 2: ["right"], 3: ["left", "right"]][number ?? 0] ?? []
            return names.map { ("button_\($0)", press.rawValue) }
        case (0x4e, "K9BB-1BTN"):
            guard press == .press, let number else { return [] }
            return [1: "press", 8: "long_press", 15: "double_press"][number].map { [("button", $0)] } ?? []
        case (0x56, "KS1"), (0x56, "KS1BP"):
            let name = [1: "left", 2: "mid_left", 3: "mid_right", 4: "right"][number ?? 0]
            return name.map { [("button_\($0)", press.rawValue)] } ?? []
        default: return []
        }
    }
}
