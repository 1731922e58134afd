// The places that the sources of conditions look at, and the intervals of those that nothing notifies of changes.
import WakeModel
import WakeSystem

/// The places of any machine, unless a test sets others.
package struct ConditionPlaces {
    /// How often a source looks again.
    package struct Intervals {
        /// Slow changes: storage, the load, and a lock that nothing reports.
        package var look = TimeSpan.seconds(60)
        package var heat = TimeSpan.seconds(10)
        /// For how long nothing may happen before the machine is idle.
        package var calm = TimeSpan.seconds(300)
        /// Until a program keeps the clock: the first wait, which doubles, and the longest one.
        package var clock = (first: TimeSpan.seconds(1), longest: TimeSpan.seconds(60))
        /// The delay from a first change to the look at it, so that one look covers changes that come together.
        package var together = TimeSpan.milliseconds(100)
        /// The pause between two looks at one handler's paths, whose user may change them without end.
        package var pause = TimeSpan.seconds(1)
    }

    /// The file system whose free space counts.
    package var stateDirectory: String
    package var powerSupplies = PowerSupplies.root
    package var voltage = UnderVoltage.root
    package var mounts = MountTable.file
    package var load = LoadPressure()
    package var heat = ThermalZone.root
    /// Nil where heat is of no interest.
    package var heatLimits: HeatLimits? = .ofFirmware
    /// Patterns of the names of links whose traffic costs money.
    package var meteredLinks = BridgeSettings().meteredLinks
    package var intervals = Intervals()
    package var readers: (any PathReaders)?

    package enum HeatLimits {
        case ofFirmware
        case each(ThermalZone.Millidegrees)
    }

    package init(stateDirectory: String) { self.stateDirectory = stateDirectory }

    /// Adds the daemon's settings.
    package init(stateDirectory: String, _ settings: BridgeSettings) {
        self.init(stateDirectory: stateDirectory)
        meteredLinks = settings.meteredLinks
        if !settings.thermal.isEnabled {
            heatLimits = nil
        } else if let degrees = settings.thermal.limitCelsius {
            heatLimits = .each(degrees * 1_000)
        }
    }

    /// The sensors whose limits count.
    var zones: [ThermalZone] {
        switch heatLimits {
        case nil: []
        case .ofFirmware: ThermalZone.all(under: heat)
        case .each(let limit): ThermalZone.all(under: heat, limit: limit)
        }
    }
}
