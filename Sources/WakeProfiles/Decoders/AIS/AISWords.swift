// The words for the numbers of AIS messages.

enum AISWords {
    static let statuses: [Int64: String] = [
        0: "under_way", 1: "at_anchor", 2: "not_under_command", 3: "restricted", 4: "constrained_by_draught",
        5: "moored", 6: "aground", 7: "fishing", 8: "sailing", 11: "towing_astern", 12: "pushing",
        14: "search_and_rescue_transmitter", 15: "undefined",
    ]

    static let receivers: [Int64: String] = [
        0: "undefined", 1: "gps", 2: "glonass", 3: "gps_glonass", 4: "loran_c", 5: "chayka", 6: "integrated",
        7: "surveyed", 8: "galileo", 15: "internal",
    ]

    static let ships: [Int64: String] = [
        30: "fishing", 31: "towing", 32: "towing_large", 33: "dredging", 34: "diving", 35: "military", 36: "sailing",
        37: "pleasure", 50: "pilot", 51: "search_and_rescue", 52: "tug", 53: "port_tender", 54: "anti_pollution",
        55: "law_enforcement", 58: "medical", 59: "noncombatant",
    ]
    static let shipDecades: [Int64: String] = [
        2: "wing_in_ground", 4: "high_speed", 6: "passenger", 7: "cargo", 8: "tanker", 9: "other",
    ]

    static let aids: [Int64: String] = [
        1: "reference_point", 2: "racon", 3: "fixed_structure", 5: "light", 6: "light_with_sectors",
        7: "leading_light_front", 8: "leading_light_rear", 9: "beacon_cardinal_north", 10: "beacon_cardinal_east",
        11: "beacon_cardinal_south", 12: "beacon_cardinal_west", 13: "beacon_port_hand", 14: "beacon_starboard_hand",
        15: "beacon_preferred_port", 16: "beacon_preferred_starboard", 17: "beacon_isolated_danger",
        18: "beacon_safe_water", 19: "beacon_special_mark", 20: "cardinal_north", 21: "cardinal_east",
        22: "cardinal_south", 23: "cardinal_west", 24: "port_hand", 25: "starboard_hand", 26: "preferred_port",
        27: "preferred_starboard", 28: "isolated_danger", 29: "safe_water", 30: "special_mark", 31: "light_vessel",
    ]
}
