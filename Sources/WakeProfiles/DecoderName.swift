// The formats that no field list can say, each with a decoder of its own.

public enum DecoderName: String, Hashable, Sendable, CaseIterable {
    case bthome, mibeacon, victron, ruuvi8, ais, midi, wedge, sml
    case hidPower = "hid-power"
}
