// The numbers of MiBeacon: its objects, and the models whose objects have a meaning of their own.

/// How the data of one object are read.
enum MiBeaconObject: Sendable {
    case unsigned(String, width: Int, places: Int = 0)
    case signed(String, width: Int, places: Int)
    /// IEEE 754 binary32, rounded.
    case float(String, places: Int)
    /// A byte; true if it is not zero.
    case flag(String)
    /// A byte; true if it is zero.
    case flagOfZero(String)
    /// A byte that is 1: the names of the fields that are then true.
    case onlyOne([String])
    case button(MiBeaconPress)
    case own(MiBeaconForm)
}

/// The press that a button event with an object of its own reports.
enum MiBeaconPress: String, Sendable {
    case press
    case doublePress = "double_press"
    case longPress = "long_press"
}

/// Objects of more than one value, or whose values depend on the model.
enum MiBeaconForm: Sendable {
    case motion, fingerprint, door, armed, toothbrush, lock, movingWithLight, button, powerAndTemperature
    case humidity, illuminance, idle, opening, climate, lockAttributes, noMovement, bodyTemperature, brushing
    case openState, wetBottom, wetTop, contact, occupied, motionWithLight, waterEvent, scale, reset
    case closeRange, charging, bodyScale
}

enum MiBeaconTable {
    static let objects: [UInt16: MiBeaconObject] = general.merging(specific) { first, _ in first }

    /// Objects of every product.
    private static let general: [UInt16: MiBeaconObject] = [
        0x0003: .own(.motion), 0x0006: .own(.fingerprint), 0x0007: .own(.door), 0x0008: .own(.armed),
        0x000a: .signed("temperature_c", width: 2, places: 2), 0x000b: .own(.lock),
        0x000f: .own(.movingWithLight), 0x0010: .own(.toothbrush), 0x1001: .own(.button),
        0x1004: .signed("temperature_c", width: 2, places: 1), 0x1005: .own(.powerAndTemperature),
        0x1006: .own(.humidity), 0x1007: .own(.illuminance), 0x1008: .unsigned("moisture_percent", width: 1),
        0x1009: .unsigned("conductivity_us_cm", width: 2), 0x100a: .unsigned("battery_percent", width: 1),
        0x100d: .own(.climate), 0x100e: .own(.lockAttributes),
        0x1010: .unsigned("formaldehyde_mg_m3", width: 2, places: 2), 0x1012: .flag("power_on"),
        0x1013: .unsigned("consumable_percent", width: 1), 0x1014: .flag("wet"), 0x1015: .flag("smoke"),
        0x1017: .own(.idle), 0x1018: .flag("light"), 0x1019: .own(.opening), 0x101b: .own(.noMovement),
        0x2000: .own(.bodyTemperature), 0x3003: .own(.brushing),
    ]

    /// Objects of newer products, numbered by their makers.
    private static let specific: [UInt16: MiBeaconObject] = [
        0x4801: .float("temperature_c", places: 1), 0x4802: .unsigned("humidity_percent", width: 1),
        0x4803: .unsigned("battery_percent", width: 1), 0x4804: .own(.openState),
        0x4805: .float("illuminance_lx", places: 2), 0x4806: .own(.wetBottom),
        0x4808: .float("humidity_percent", places: 1), 0x480c: .own(.contact), 0x4818: .own(.idle),
        0x483c: .flag("occupied"), 0x483d: .unsigned("occupied_s", width: 4),
        0x483e: .unsigned("unoccupied_s", width: 4), 0x484e: .own(.occupied),
        0x4851: .unsigned("occupied_min", width: 1), 0x4852: .unsigned("unoccupied_min", width: 1),
        0x487b: .own(.wetTop), 0x4a01: .flag("battery_low"), 0x4a08: .own(.motionWithLight),
        0x4a0c: .button(.press), 0x4a0d: .button(.doublePress), 0x4a0e: .button(.longPress),
        0x4a0f: .onlyOne(["open", "forcibly_removed"]), 0x4a12: .own(.openState), 0x4a13: .onlyOne(["button"]),
        0x4a1a: .onlyOne(["open", "left_open"]), 0x4a68: .own(.waterEvent),
        0x4c01: .float("temperature_c", places: 2), 0x4c02: .unsigned("humidity_percent", width: 1),
        0x4c03: .unsigned("battery_percent", width: 1), 0x4c08: .float("humidity_percent", places: 2),
        0x4c14: .unsigned("mode", width: 1), 0x4e01: .flag("battery_low"), 0x4e0c: .button(.press),
        0x4e0d: .button(.doublePress), 0x4e0e: .button(.longPress), 0x4e16: .own(.scale), 0x4e1c: .own(.reset),
        0x5003: .unsigned("battery_percent", width: 1), 0x5413: .own(.closeRange),
        0x5414: .unsigned("mode", width: 1), 0x5422: .own(.charging), 0x560c: .button(.press),
        0x560d: .button(.doublePress), 0x560e: .button(.longPress), 0x5810: .flagOfZero("asleep"),
        0x6461: .flagOfZero("wearing"), 0x6e16: .own(.bodyScale),
    ]

    static let models: [UInt16: String] = [
        0x0083: "YM-K1501", 0x0098: "HHCCJCY01", 0x00db: "MMC-T201-1", 0x0113: "YM-K1501EU",
        0x0153: "YLYK01YL", 0x015d: "HHCCPOT002", 0x01aa: "LYWSDCGQ", 0x02df: "JQJCY01YM", 0x0347: "CGG1",
        0x0380: "DSL-C08", 0x0387: "MHO-C401", 0x0391: "MMC-W505", 0x03b6: "YLKG07YL", 0x03bc: "GCLS002",
        0x03bf: "YLYB01YL-BHFRC", 0x03d6: "CGH1", 0x03dd: "MUE4094RT", 0x040a: "WX08ZM", 0x045b: "LYWSD02",
        0x045c: "V-SK152", 0x0489: "M1S-T500", 0x04e1: "XMMF01JQD", 0x04e6: "YLYK01YL-VENFAN",
        0x04e9: "MJZNMSQ01YD", 0x055b: "LYWSD03MMC", 0x0576: "CGD1", 0x0599: "MJZNMS03LM", 0x066f: "CGDK2",
        0x068e: "YLYK01YL-FANCL", 0x069e: "ZNMS16LM", 0x069f: "ZNMS17LM", 0x06d3: "MHO-C303",
        0x0784: "XMZNMS04LM", 0x07bf: "YLAI003", 0x07f6: "MJYD02YL", 0x0806: "T700", 0x0863: "SJWS01LM",
        0x098b: "MCCGQ02HL", 0x098c: "XMZNMST02YD", 0x0997: "JTYJGD03MI", 0x0a83: "CGPR1", 0x0a8d: "RTCGQ02LM",
        0x0b48: "CGG1", 0x0c3c: "CGC1", 0x0de7: "SU001-T", 0x0dfd: "K9B-3BTN", 0x0e39: "XMZNMS08LM",
        0x11c2: "Lockin-SV40", 0x1203: "XMWSDJ04MMC", 0x1568: "K9B-1BTN", 0x1569: "K9B-2BTN", 0x16e4: "LYWSD02MMC",
        0x1790: "T700", 0x1889: "MS1BB", 0x1949: "XMWXKG01YL", 0x1c10: "K9BB-1BTN", 0x2387: "XMWXKG01LM",
        0x2542: "LYWSD02MMC", 0x2832: "MJWSD05MMC", 0x2aeb: "HS1BB", 0x30d9: "MJTZC01YM", 0x3531: "XMPIRO2SXS",
        0x38bb: "PTX_YK1_QMIMB", 0x3a61: "KS1", 0x3bd5: "MJTZC01YM", 0x3e17: "KS1BP", 0x3f0f: "RS1BB",
        0x3f4c: "PS1BB", 0x45c9: "MJTZC02YM", 0x4683: "XMOSB01XS", 0x48cf: "MJTZC01YM", 0x4b05: "MJTZC03YM",
        0x4c04: "MJTZC02YM", 0x4c47: "MJWSD05MMC", 0x4c60: "XMPIRO2GSXS", 0x4dcb: "MJTZC02YM", 0x4f59: "CGDK3",
        0x50fb: "ES3", 0x520b: "KS2BB", 0x55b5: "MJWSD06MMC", 0x5968: "XMWS01XS", 0x59fa: "M2457B1",
        0x59fb: "M2456B1", 0x59fc: "M2456B1", 0x5bea: "MJWSD06MMC", 0x5db1: "MBS17", 0x6188: "M2456B1",
        0x6375: "SJWS02LM", 0x6a0f: "ES5BB", 0x78d1: "MC-COMM", 0x78db: "ESM787",
    ]
}
