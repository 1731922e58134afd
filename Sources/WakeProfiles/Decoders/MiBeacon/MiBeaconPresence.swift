// MiBeacon objects about movement, presence, and water.
import WakeModel

extension MiBeaconObjects {
    func addPresence(_ form: MiBeaconForm, _ data: MiBeaconData, to fields: inout DecodedFields) throws(DecoderFault) {
        switch form {
        case .motion: fields.add("motion", true)
        case .movingWithLight:
            let light = try data.exactly(3).littleEndianNumber
            fields.add("motion", true)
            // These send a mark in place of a brightness.
            let isMark = model == "MJYD02YL" || model == "RTCGQ02LM"
            fields.add(isMark ? "light" : "illuminance_lx", isMark ? .flag(light >= 100) : .whole(Int64(light)))
        case .illuminance:
            let light = try data.exactly(3).littleEndianNumber
            let isMark = model == "MJYD02YL" || model == "MCCGQ02HL"
            fields.add(isMark ? "light" : "illuminance_lx", isMark ? .flag(light == 100) : .whole(Int64(light)))
        case .idle:
            let seconds = try data.exactly(data.number == 0x1017 ? 4 : 2).littleEndianNumber
            // The first reports after a movement still belong to it.
            fields.add("motion", seconds <= 30)
            fields.add("idle_s", seconds)
        case .noMovement:
            fields.add("motion", false)
            if data.bytes.count == 4 { fields.add("idle_s", data.bytes.littleEndianNumber) }
        case .occupied:
            let state = try data.byte()
            fields.add("occupied", model == "XMOSB01XS" ? state == 1 : state > 0)
        case .motionWithLight:
            let light = try data.float()
            fields.add("motion", true)
            fields.add("illuminance_lx", .rounded(light, places: 2))
        case .closeRange:
            let state = try data.byte()
            guard model == "ES5BB" else { return fields.add("undecoded", .bytes(data.whole)) }
            fields.add("occupied_close_range", state > 0)
        case .wetBottom: fields.add(model == "SJWS02LM" ? "wet_bottom" : "wet", try data.byte() > 0)
        case .wetTop: fields.add("wet_top", try data.byte() > 0)
        case .waterEvent:
            let event = try data.byte()
            guard event <= 3 else { return fields.add("undecoded", .bytes(data.whole)) }
            fields.add(event < 2 ? "wet_bottom" : "wet_top", event.isMultiple(of: 2))
        case .reset: fields.add("reset", true)
        default: return
        }
    }
}
