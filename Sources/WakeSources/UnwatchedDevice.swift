// A device that is there and that no handler gets: which profile misses it by least, or what else keeps it from being watched.
import WakeModel
import WakeProfiles
import WakeSystem

public struct UnwatchedDevice: Hashable, Sendable {
    /// The reason why a device is not watched though a profile fits it.
    public enum Obstacle: Hashable, Sendable {
        /// Bluetoothd does not trust it.
        case untrusted
        /// Its address changes by itself, and it keeps no bond that would identify it.
        case unidentified
    }

    /// The device's own name, its node or its address.
    public var alias: String
    public var uri: String
    public var isConnected: Bool
    public var facts: DeviceFacts
    public var obstacle: Obstacle?

    public init(
        alias: String, uri: String, isConnected: Bool, facts: DeviceFacts, obstacle: Obstacle? = nil
    ) {
        (self.alias, self.uri, self.isConnected) = (alias, uri, isConnected)
        (self.facts, self.obstacle) = (facts, obstacle)
    }

    /// Why a handler that watches the profile does not get it, and how near it is, from 0 to 1; nil where it has nothing to do
    /// with that profile.
    public func reason(for profile: ProfileIndex, in profiles: ProfileLibrary) -> (sentence: String, nearness: Double)?
    {
        if let miss = profiles.miss(of: facts, by: profile) {
            guard isNear(miss) else { return nil }
            return ("\(alias) \(state), and \(miss.sentence)", miss.similarity)
        }
        guard let obstacle, profiles.match(facts) == profile else { return nil }
        return ("\(alias) \(state), \(obstacle.sentence(address))", 1)
    }

    /// Why no handler gets it; nil where that needs no word.
    /// - Parameter isMeant: the profiles that a user here wants.
    public func reason(in profiles: ProfileLibrary, among isMeant: (ProfileHead) -> Bool) -> String? {
        if let miss = profiles.nearestMiss(of: facts, among: isMeant) {
            return isNear(miss) ? "no profile fits it: \(miss.sentence)" : nil
        }
        return obstacle.map { "it \($0.sentence(address))" }
    }

    /// A machine has dozens of nodes that have nothing to do with a profile; of peripherals only those that people adopted or
    /// connected come here.
    private func isNear(_ miss: NearMiss) -> Bool {
        facts.kind != .externalAccessory || miss.similarity >= Self.leastSimilarity
    }

    private static let leastSimilarity = 0.3

    private var state: String {
        if facts.kind == .externalAccessory { return "is attached" }
        return isConnected ? "is connected" : "is not connected"
    }

    private var address: String { Device.bluetoothAddress(in: uri) ?? alias }
}

extension UnwatchedDevice.Obstacle {
    /// Goes on after the device's name and state.
    fileprivate func sentence(_ address: String) -> String {
        switch self {
        case .untrusted:
            "fits the profile and is not trusted; adopt it with: wakebridge pair \(address), with --no-bond if it keeps no bond"
        case .unidentified:
            "fits the profile and has a private address without a bond, so it would not be recognised; "
                + "bond it with: wakebridge pair \(address)"
        }
    }
}

extension UnwatchedDevice {
    init(_ peripheral: BluezPeripheral) {
        let facts = DeviceFacts(
            kind: .bluetoothCentral, services: peripheral.services, name: peripheral.name,
            advertisement: peripheral.advertisement ?? [])
        let isUnidentified = peripheral.hasPrivateAddress && !peripheral.isBonded
        self.init(
            alias: peripheral.isNamedByPeople ? peripheral.alias : peripheral.name ?? peripheral.address,
            uri: peripheral.uri, isConnected: peripheral.isConnected, facts: facts,
            obstacle: isUnidentified ? .unidentified : peripheral.isTrusted ? nil : .untrusted)
    }

    init(_ record: UdevRecord) {
        let name = ["NAME", "HID_NAME", "ID_MODEL"].lazy.compactMap { record.properties[$0]?.unquoted }.first
        let facts = DeviceFacts(kind: .externalAccessory, properties: record.properties)
        self.init(
            alias: record.node ?? name ?? record.path, uri: record.path, isConnected: true, facts: facts)
    }
}
