// Whether the machine runs on battery, from the kernel's power supplies.

public enum PowerSupplies {
    public static let root = "/sys/class/power_supply"

    /// True where no mains supply is online and a battery of the machine is discharging. False for a machine without a
    /// battery, and where the mains is not reported but the battery is full or charging.
    public static func isOnBattery(under root: String = root) -> Bool {
        let supplies = ((try? Directory.names(in: root)) ?? []).map { "\(root)/\($0)" }.filter(isOfMachine)
        if supplies.contains(where: { !isStore($0) && isOnline($0) }) { return false }
        return supplies.contains { isStore($0) && File.word(at: "\($0)/status") == "Discharging" }
    }

    private static func isStore(_ path: String) -> Bool { ["Battery", "UPS"].contains(File.word(at: "\(path)/type")) }

    /// A mouse, a headset or a pen has a battery of its own.
    private static func isOfMachine(_ path: String) -> Bool { File.word(at: "\(path)/scope") != "Device" }

    private static func isOnline(_ path: String) -> Bool {
        File.word(at: "\(path)/online").flatMap { Int($0) } ?? 0 > 0
    }
}
