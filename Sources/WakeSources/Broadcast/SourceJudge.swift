// Who of those that broadcast is meant: those that a person named or paired, and those that a manifest names.
import WakeModel
import WakeProfiles

/// A device of a profile, as a manifest names it: an alias or a URI.
public struct DeviceNaming: Hashable, Sendable {
    public var profile: String
    public var device: String

    public init(profile: String, device: String) { (self.profile, self.device) = (profile, device) }
}

struct SourceJudge: BroadcastJudge {
    let host: any SourceHost
    /// Of the list that the daemon keeps.
    let names: [RadioAddress: String]
    /// Paired or trusted.
    let adopted: [RadioAddress: BluezPeripheral]

    func isMeant(_ address: RadioAddress) -> Bool { names[address] != nil || adopted[address] != nil }

    func plan(for sighting: Sighting) -> BroadcastPlan? {
        let profiles = host.profiles
        let index = profiles.match(
            kind: .bluetoothCentral, services: sighting.services, name: sighting.name, advertisement: sighting.data)
        guard let index, profiles[index].hasBroadcasts else { return nil }
        let profile = profiles[index]
        return BroadcastPlan(profile: profile.name, index: index, hasLink: !profile.isOfBroadcasters)
    }

    func reads(_ data: [UInt8], by plan: BroadcastPlan) -> Bool { host.profiles[plan.index].reads(advertisement: data) }

    func standing(of address: RadioAddress, _ plan: BroadcastPlan) -> (alias: String, isMeant: Bool) {
        let alias = alias(of: address, plan)
        let uri = Device.uri(ofBluetooth: address.description)
        let isNamed = host.namings.contains {
            $0.profile == plan.profile && ($0.device == alias || $0.device == uri)
        }
        return (alias, isMeant(address) || isNamed)
    }

    private func alias(of address: RadioAddress, _ plan: BroadcastPlan) -> String {
        if let name = names[address] { return name }
        var peripheral = adopted[address] ?? BluezPeripheral()
        peripheral.address = address.description
        return peripheral.deviceAlias(profile: plan.profile)
    }
}
