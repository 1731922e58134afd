// Finds the profile of a device, by udev's record and the node that the profile opens, or by bluetoothd's properties.
import WakeModel
import WakeProfiles
import WakeSystem

extension ProfileLibrary {
    /// The most particular one; nil if no profile matches.
    public func profile(of record: UdevRecord) -> Profile? { index(of: record).map { self[$0] } }

    func index(of record: UdevRecord) -> ProfileIndex? {
        matchAccessory(properties: record.properties) { $0.subsystem == record.subsystem }
    }

    /// Matches a peripheral's profile, or else that of a device with a serial port.
    public func profile(of peripheral: BluezPeripheral) -> Profile? { index(of: peripheral).map { self[$0] } }

    func index(of peripheral: BluezPeripheral) -> ProfileIndex? {
        let services = Array(peripheral.services)
        return match(
            kind: .bluetoothCentral, services: services, name: peripheral.name, advertisement: peripheral.advertisement)
            ?? (peripheral.services.contains(SerialPeripherals.serialPort)
                ? match(kind: .externalAccessory, services: services, name: peripheral.name) : nil)
    }

    /// The subsystems in which accessories are followed. Sensors and batteries send every few seconds, so these are
    /// included only for a profile.
    var subsystems: [String] { Set(UdevRecord.nodeSubsystems + heads.compactMap(\.subsystem)).sorted() }
}

extension ProfileHead {
    /// The udev subsystem of the nodes that it opens. A profile without a node is for USB devices, unless it names
    /// another subsystem. Nil for devices of bluetoothd.
    fileprivate var subsystem: String? {
        switch node {
        case .serial: "tty"
        case .hid: "hidraw"
        case .input: "input"
        case .some(.none): match.properties.first { $0.name == "SUBSYSTEM" }?.values.first ?? "usb"
        case .rfcomm, nil: nil
        }
    }
}

/// The plans of devices that were connected when profiles changed: they keep them until their links have ended.
private struct HeldPlans<Plan> {
    private var plans: [String: Plan] = [:]

    mutating func hold(_ plans: [String: Plan]) { self.plans = plans }

    /// Nil for a device that has been away since.
    mutating func plan(for peripheral: BluezPeripheral) -> Plan? {
        guard !peripheral.isConnected else { return plans[peripheral.uri] }
        plans[peripheral.uri] = nil
        return nil
    }
}

/// Plans the use of peripherals by their profiles.
protocol PeripheralPlanner: AnyObject {
    /// Services for which bluetoothd reconnects peripherals.
    var services: [BluetoothUUID] { get }
    /// The adapters to which an operator has pinned peripherals.
    var pins: AdapterPins { get }
    /// Nil where no profile knows the peripheral.
    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan?
    /// Profiles have changed; these are in use, by URI.
    func hold(_ plans: [String: BluetoothPlan])
}

final class PeripheralProfiles: PeripheralPlanner {
    private unowned let host: any SourceHost
    private var held = HeldPlans<BluetoothPlan>()
    let pins: AdapterPins

    init(of host: any SourceHost, pins: AdapterPins) {
        self.host = host
        self.pins = pins
    }

    var services: [BluetoothUUID] {
        host.profiles.heads.filter { $0.kind == .bluetoothCentral }.flatMap(\.match.services)
    }

    func hold(_ plans: [String: BluetoothPlan]) { held.hold(plans) }

    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan? {
        if let plan = held.plan(for: peripheral) { return plan }
        let profiles = host.profiles
        // The services that it was matched by may be in its advertisements only, and bluetoothd forgets those.
        let index =
            profiles.match(
                kind: .bluetoothCentral, services: Array(peripheral.services), name: peripheral.name,
                advertisement: peripheral.advertisement)
            ?? host.knownDevice(at: peripheral.uri).flatMap { $0.kind == .bluetoothCentral ? $0.profile : nil }
            .flatMap { profiles.index(named: $0) }
        guard let index else { return nil }
        let profile = profiles[index]
        guard !profile.isOfBroadcasters else { return nil }
        return BluetoothPlan(
            profile: profile.name, link: LinkPlan(profile, isShipped: profiles.head(index).isShipped),
            edition: index.rawValue)
    }
}

extension LinkPlan {
    init(_ profile: Profile, isShipped: Bool) {
        var framings: [CharacteristicName: ChannelFraming] = [:]
        for found in profile.framings {
            guard case .characteristic(let name) = found.channel else { continue }
            framings[name] = ChannelFraming(found.framing, limit: found.limit, trial: found.trial)
        }
        self.init(
            notify: profile.notify.map { CharacteristicName($0) },
            read: profile.readAtConnect.map { CharacteristicName($0) },
            optional: Set(profile.optional.map { CharacteristicName($0) }), framings: framings,
            ask: profile.ask)
        tellsAbsence = !isShipped
    }
}

/// Plans the use of accessories by their profiles.
protocol AccessoryPlanner: AnyObject {
    /// The udev subsystems to monitor.
    var subsystems: [String] { get }
    /// Nil where no profile knows the device.
    func plan(for record: UdevRecord) -> AccessoryMatch?
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch?
    /// Profiles have changed; these are in use of devices with a serial port over Bluetooth, by URI.
    func hold(_ matches: [String: AccessoryMatch])
}

final class AccessoryProfiles: AccessoryPlanner {
    private unowned let host: any SourceHost
    private var held = HeldPlans<AccessoryMatch>()

    init(of host: any SourceHost) { self.host = host }

    var subsystems: [String] { host.profiles.subsystems }

    func hold(_ matches: [String: AccessoryMatch]) { held.hold(matches) }

    /// Uses a shipped profile only if a manifest watches it: the machine's own devices stay with their users.
    func plan(for record: UdevRecord) -> AccessoryMatch? {
        guard let index = host.profiles.index(of: record) else { return nil }
        let head = host.profiles.head(index)
        return head.isShipped && !host.isWatched(head.name) ? nil : match(index)
    }

    /// A device that was known as a peripheral stays one, though it advertises nothing just now.
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch? {
        if let match = held.plan(for: peripheral) { return match }
        let known = host.knownDevice(at: peripheral.uri)
        guard known?.kind != .bluetoothCentral || known?.profile == nil else { return nil }
        return match(host.profiles.index(of: peripheral))
    }

    private func match(_ index: ProfileIndex?) -> AccessoryMatch? {
        guard let index, let plan = host.profiles[index].accessory else { return nil }
        return AccessoryMatch(profile: host.profiles.name(index), plan: plan, edition: index.rawValue)
    }
}
