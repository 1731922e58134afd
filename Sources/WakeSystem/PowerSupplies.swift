// Whether the machine draws from its battery, as the kernel's power supplies say.

public enum PowerSupplies {
    public static let root = "/sys/class/power_supply"

    /// True where no mains is there and a battery of the machine is being emptied. A machine without a battery never is; nor
    /// is one whose mains is not told but whose battery is full or being charged.
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
