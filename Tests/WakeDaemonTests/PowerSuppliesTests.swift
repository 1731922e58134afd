// The look at power, with a directory of files for the supplies: who counts as mains, and when somebody is told.
import Testing
import WakeSystem

/// Supplies as sysfs shows them; gone with the test.
private final class Supplies {
    let root: String

    init() throws { root = try Directory.makeTemporary(prefix: "wakepower") }
    deinit { Directory.removeTree(root) }

    func put(_ name: String, _ attributes: KeyValuePairs<String, String>) throws {
        try Directory.create("\(root)/\(name)")
        for (attribute, value) in attributes {
            try File.replace("\(root)/\(name)/\(attribute)", with: Array("\(value)\n".utf8))
        }
    }
}

@Suite("The look at power")
struct PowerSuppliesTests {
    @Test("a machine without supplies, or whose folder is missing, is not on battery")
    func none() throws {
        let supplies = try Supplies()
        #expect(!PowerSupplies.isOnBattery(under: supplies.root))
        #expect(!PowerSupplies.isOnBattery(under: supplies.root + "/nowhere"))
    }

    @Test("a laptop is on battery while no mains is online and its battery is emptied")
    func laptop() throws {
        let supplies = try Supplies()
        try supplies.put("AC", ["type": "Mains", "online": "0"])
        try supplies.put("BAT0", ["type": "Battery", "status": "Discharging"])
        #expect(PowerSupplies.isOnBattery(under: supplies.root))
        try supplies.put("AC", ["online": "1"])
        #expect(!PowerSupplies.isOnBattery(under: supplies.root), "a weak charger, while the battery helps")
        try supplies.put("AC", ["online": "0"])
        try supplies.put("BAT0", ["status": "Full"])
        #expect(!PowerSupplies.isOnBattery(under: supplies.root), "its mains is not told")
    }

    @Test("a second charger counts, a mouse's battery does not, and a UPS without mains does")
    func others() throws {
        let supplies = try Supplies()
        try supplies.put("hidpp_battery_0", ["type": "Battery", "status": "Discharging", "scope": "Device"])
        #expect(!PowerSupplies.isOnBattery(under: supplies.root))
        try supplies.put("ups", ["type": "UPS", "status": "Discharging", "scope": "System"])
        #expect(PowerSupplies.isOnBattery(under: supplies.root))
        try supplies.put("ucsi-source-psy-1", ["type": "USB", "online": "0"])
        #expect(PowerSupplies.isOnBattery(under: supplies.root))
        try supplies.put("ucsi-source-psy-2", ["type": "USB", "online": "1"])
        #expect(!PowerSupplies.isOnBattery(under: supplies.root))
    }
}
