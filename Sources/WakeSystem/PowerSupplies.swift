// Whether the machine runs on battery, from the kernel's power supplies.

public enum PowerSupplies {
    public static let root = "/sys/class/power_supply"

    /// True where no mains supply is online and a battery of the machine is discharging. False for a machine without a
    /// battery, and where the mains is not reported but the battery is full or charging.
    public static func isOnBattery(under root: String = root) -> Bool {
        let supplies = ((try? Directory.names(in: root)) ?? []).map { "\(root)/\($0)" }.filter(isOfMachine)
        if supplies.contains(where: isMains) { return false }
        return supplies.contains { kind(of: $0) == .store && text("status", of: $0) == "Discharging" }
    }

    private enum Kind { case source, store }

    private static func kind(of path: String) -> Kind {
        switch text("type", of: path) {
        case "Battery", "UPS": .store
        default: .source
        }
    }

    /// A mouse, a headset or a pen has a battery of its own.
    private static func isOfMachine(_ path: String) -> Bool { text("scope", of: path) != "Device" }

    private static func isMains(_ path: String) -> Bool {
        kind(of: path) == .source && text("online", of: path).flatMap { Int($0) } ?? 0 > 0
    }

    private static func text(_ attribute: String, of path: String) -> String? {
        (try? File.text(at: "\(path)/\(attribute)"))?.split(whereSeparator: \.isNewline).first.map(String.init)
    }
}
