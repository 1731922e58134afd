// Decides which broadcasters are meant: those that a person named or paired, and those that a manifest names.
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
    /// The names of the list that the daemon keeps.
    let names: [RadioAddress: String]
    /// Paired or trusted.
    let adopted: [RadioAddress: BluezPeripheral]

    func isMeant(_ address: RadioAddress) -> Bool { isKnown(address) || !profilesNaming(address).isEmpty }

    private func isKnown(_ address: RadioAddress) -> Bool { names[address] != nil || adopted[address] != nil }

    /// A beacon may send data in turn that several profiles read: that of a manifest which names it comes first.
    func plan(for sighting: Sighting) -> BroadcastPlan? {
        let profiles = host.profiles
        let named = Set(profilesNaming(sighting.address))
        let fitting = { (isWanted: (ProfileHead) -> Bool) in
            profiles.match(
                kind: .bluetoothCentral, services: sighting.services, name: sighting.name,
                advertisement: sighting.data, where: isWanted)
        }
        let index = named.isEmpty ? nil : fitting { named.contains($0.name) }
        guard let index = index ?? fitting({ _ in true }), profiles[index].hasBroadcasts else { return nil }
        let profile = profiles[index]
        return BroadcastPlan(profile: profile.name, index: index, hasLink: !profile.isOfBroadcasters)
    }

    func better(than plan: BroadcastPlan, for sighting: Sighting) -> BroadcastPlan? {
        guard let other = self.plan(for: sighting), other.profile != plan.profile else { return nil }
        let isWatched = host.isWatched(plan.profile)
        guard host.isWatched(other.profile) == isWatched else { return isWatched ? nil : other }
        return givesWay(plan) && !givesWay(other) ? other : nil
    }

    private func givesWay(_ plan: BroadcastPlan) -> Bool { host.profiles.head(plan.index).match.givesWay }

    private func profilesNaming(_ address: RadioAddress) -> [String] {
        let uri = Device.uri(ofBluetooth: address.description)
        return host.namings.filter { $0.device == uri || $0.device == alias(of: address, profile: $0.profile) }
            .map(\.profile)
    }

    func reads(_ data: [UInt8], by plan: BroadcastPlan) -> Bool { host.profiles[plan.index].reads(advertisement: data) }

    func standing(of address: RadioAddress, _ plan: BroadcastPlan) -> (alias: String, isMeant: Bool) {
        let alias = alias(of: address, profile: plan.profile)
        let uri = Device.uri(ofBluetooth: address.description)
        let isNamed = host.namings.contains {
            $0.profile == plan.profile && ($0.device == alias || $0.device == uri)
        }
        return (alias, isKnown(address) || isNamed)
    }

    private func alias(of address: RadioAddress, profile: String) -> String {
        if let name = names[address] { return name }
        var peripheral = adopted[address] ?? BluezPeripheral()
        peripheral.address = address.description
        return peripheral.deviceAlias(profile: profile)
    }
}
