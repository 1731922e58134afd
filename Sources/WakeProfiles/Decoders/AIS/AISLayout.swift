// The fields of the 27 AIS message types, as ITU-R M.1371 orders them.

enum AISField: Sendable {
    enum Position: Sendable {
        /// Ten thousandths of a minute, or tenths.
        case fine, coarse
        /// Corners of an area, coarse.
        case northEast, southWest

        var isFine: Bool {
            switch self {
            case .fine: true
            case .coarse, .northEast, .southWest: false
            }
        }
        var prefix: String {
            switch self {
            case .fine, .coarse: ""
            case .northEast: "northeast_"
            case .southWest: "southwest_"
            }
        }
    }

    case skip(Int)
    /// `none` means that there is no value.
    case number(String, Int, none: UInt64? = nil)
    /// More than `most` is no value.
    case tenths(String, Int, most: UInt64)
    case flag(String, meaning: Bool = true)
    case word(String, Int, [Int64: String])
    case position(Position)
    case text(String, Int)
    case restOfText(String)
    /// All but this many bits.
    case restOfData(Int)
    case turn
    /// A number, and the word for it.
    case kind(String, Int)
    case time, arrival, dimensions, staticPart, channels, destination
    /// Only if at least this many bits are left.
    case group([AISField], least: Int)
}

struct AISLayout: Sendable {
    /// In bits; some stations fill up to whole characters or bytes.
    var lengths: ClosedRange<Int>
    /// After type, repeat indicator and station.
    var fields: [AISField]

    static let layouts: [Int: AISLayout] = positions.merging(ships) { first, _ in first }
        .merging(messages) { first, _ in first }.merging(commands) { first, _ in first }

    private static let speed = AISField.tenths("speed_kn", 10, most: 1_022)
    private static let course = AISField.tenths("course_deg", 12, most: 3_599)
    private static let heading = AISField.number("heading_deg", 9, none: 511)
    private static let second = AISField.number("second", 6, none: 60)
    private static let accurate = AISField.flag("accurate")
    private static let raim = AISField.flag("raim")
    private static let assigned = AISField.flag("assigned")
    private static let receiver = AISField.word("receiver", 4, AISWords.receivers)
    private static let ready = AISField.flag("terminal_ready", meaning: false)
    private static let target = AISField.number("destination_mmsi", 30)

    private static let classA = AISLayout(
        lengths: 168...168,
        fields: [
            .word("status", 4, AISWords.statuses), .turn, speed, accurate, .position(.fine), course, heading, second,
            .word("maneuver", 2, [0: "unknown", 1: "none", 2: "special"]), .skip(3), raim, .number("radio", 19),
        ])
    private static let clock = AISLayout(
        lengths: 168...168,
        fields: [.time, accurate, .position(.fine), receiver, .skip(10), raim, .number("radio", 19)])

    private static let positions: [Int: AISLayout] = [
        1: classA, 2: classA, 3: classA, 4: clock, 11: clock,
        9: AISLayout(
            lengths: 168...168,
            fields: [
                .number("altitude_m", 12, none: 4_095), .number("speed_kn", 10, none: 1_023), accurate,
                .position(.fine), course, second, .skip(8), ready, .skip(3), assigned, raim, .number("radio", 20),
            ]),
        18: AISLayout(
            lengths: 168...168,
            fields: [
                .skip(8), speed, accurate, .position(.fine), course, heading, second, .skip(2),
                .flag("carrier_sense"), .flag("display"), .flag("dsc"), .flag("whole_band"), .flag("channel_control"),
                assigned, raim, .number("radio", 20),
            ]),
        19: AISLayout(
            lengths: 312...312,
            fields: [
                .skip(8), speed, accurate, .position(.fine), course, heading, second, .skip(4), .text("name", 20),
                .kind("ship_type", 8), .dimensions, receiver, raim, ready, assigned, .skip(4),
            ]),
        27: AISLayout(
            lengths: 96...168,
            fields: [
                accurate, raim, .word("status", 4, AISWords.statuses), .position(.coarse),
                .number("speed_kn", 6, none: 63), .number("course_deg", 9, none: 511),
                .flag("current", meaning: false), .skip(1),
            ]),
    ]

    private static let ships: [Int: AISLayout] = [
        5: AISLayout(
            lengths: 420...426,
            fields: [
                .number("ais_version", 2), .number("imo", 30, none: 0), .text("callsign", 7), .text("name", 20),
                .kind("ship_type", 8), .dimensions, receiver, .arrival, .tenths("draught_m", 8, most: 255),
                .group([.text("destination", 20)], least: 120), .group([ready], least: 1), .skip(1),
            ]),
        21: AISLayout(
            lengths: 270...368,
            fields: [
                .kind("aid_type", 5), .text("name", 20), accurate, .position(.fine), .dimensions, receiver, second,
                .flag("off_position"), .skip(8), raim, .group([.flag("virtual"), assigned, .skip(1)], least: 2),
                .group([.restOfText("name_extension")], least: 6),
            ]),
        24: AISLayout(lengths: 160...184, fields: [.staticPart]),
    ]

    private static let acknowledged: [AISField] = [target, .number("sequence", 2)]

    private static let messages: [Int: AISLayout] = [
        6: AISLayout(
            lengths: 88...1_008,
            fields: [
                .number("sequence", 2), target, .flag("retransmitted"), .skip(1), .number("area_code", 10),
                .number("function_id", 6), .restOfData(0),
            ]),
        7: acknowledgement, 13: acknowledgement,
        8: AISLayout(
            lengths: 56...1_008,
            fields: [.skip(2), .number("area_code", 10), .number("function_id", 6), .restOfData(0)]),
        10: AISLayout(lengths: 72...72, fields: [.skip(2), target, .skip(2)]),
        12: AISLayout(
            lengths: 72...1_008,
            fields: [.number("sequence", 2), target, .flag("retransmitted"), .skip(1), .restOfText("text")]),
        14: AISLayout(lengths: 40...1_008, fields: [.skip(2), .restOfText("text")]),
        17: AISLayout(lengths: 80...816, fields: [.skip(2), .position(.coarse), .skip(5), .restOfData(0)]),
        25: AISLayout(lengths: 40...168, fields: [.destination, .restOfData(0)]),
        26: AISLayout(lengths: 60...1_064, fields: [.destination, .restOfData(20), .number("radio", 20)]),
    ]

    /// Up to four stations.
    private static let acknowledgement = AISLayout(
        lengths: 72...168,
        fields: [.skip(2)] + acknowledged + [AISField](repeating: .group(acknowledged, least: 32), count: 3))

    private static let asked: [AISField] = [.number("asked_type", 6), .number("slot_offset", 12)]
    private static let reserved: [AISField] = [
        .number("offset", 12), .number("slots", 4), .number("timeout_min", 3), .number("increment", 11),
    ]
    private static let assignment: [AISField] = [target, .number("offset", 12), .number("increment", 10)]

    private static let commands: [Int: AISLayout] = [
        15: AISLayout(
            lengths: 88...168,
            fields: [.skip(2), target] + asked + [
                .group([.skip(2)] + asked, least: 20),
                .group([.skip(2), target] + asked + [.skip(2)], least: 50),
            ]),
        16: AISLayout(lengths: 92...168, fields: [.skip(2)] + assignment + [.group(assignment, least: 52)]),
        20: AISLayout(
            lengths: 70...168,
            fields: [.skip(2)] + reserved + [AISField](repeating: .group(reserved, least: 30), count: 3)),
        22: AISLayout(
            lengths: 168...168,
            fields: [
                .skip(2), .number("channel_a", 12), .number("channel_b", 12), .number("transmit_receive", 4),
                .flag("low_power"), .channels, .flag("narrow_a"), .flag("narrow_b"), .number("zone_size_nmi", 3),
                .skip(23),
            ]),
        23: AISLayout(
            lengths: 160...168,
            fields: [
                .skip(2), .position(.northEast), .position(.southWest), .number("station_type", 4),
                .kind("ship_type", 8), .skip(22), .number("transmit_receive", 2), .number("interval", 4),
                .number("quiet_min", 4), .skip(6),
            ]),
    ]
}
