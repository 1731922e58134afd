// The settings in force as keys and texts, as `wakebridge.json5` would write them.
import WakeCore
import WakeModel
import WakeProfiles
import WakeSources

extension BridgeSettings {
    public struct Entry: Hashable, Sendable {
        /// `storm.burst`.
        public let key: String
        /// Nil where nothing is set.
        public let value: String?
    }

    /// Every key that has a value, in the order of the closed key lists.
    public var entries: [Entry] {
        [
            Entry(key: "control_group", value: controlGroup), Entry(key: "control_role", value: controlRole.rawValue),
        ]
            + Self.entries("web", WebConfiguration.keys, webValues)
            + [
                Entry(key: "suspend", value: suspension.rawValue),
                Entry(key: "adapter", value: adapterPins.ofBridge),
            ] + entriesOfDevices
            + Self.groups.flatMap { group in
                group.rows.map { Entry(key: "\(group.name).\($0)", value: $1.text(in: self)) }
            }
            + [Entry(key: "metered_links", value: meteredLinks.isEmpty ? nil : meteredLinks.joined(separator: ", "))]
            + Self.entries(
                "alerts", Self.alertKeys,
                [alerts.command.isEmpty ? nil : alerts.command.joined(separator: " "), alerts.user, alerts.ntfy])
            + Self.entries("replay", Self.replayKeys, [replay?.file, replay.map(\.speedText)])
            + Self.entries("mqtt", MQTTSettings.keys, MQTTSettings.listed(mqtt))
            + [Entry(key: "remote", value: remotes.isEmpty ? nil : remotes.map(\.text).joined(separator: ", "))]
            + TimerKeys.all.map { Entry(key: "timers.\($0.key)", value: timers[keyPath: $0.timer].text) }
    }

    /// Where no device is named, the key is shown as the page on settings names it.
    private var entriesOfDevices: [Entry] {
        let pinned = adapterPins.ofDevices.sorted { $0.key < $1.key }
        if pinned.isEmpty { return [Entry(key: "devices.NAME.adapter", value: nil)] }
        return pinned.map { Entry(key: "devices.\($0.key).adapter", value: $0.value) }
    }

    private static func entries(_ object: String, _ keys: [String], _ values: [String?]) -> [Entry] {
        zip(keys, values).map { Entry(key: "\(object).\($0)", value: $1) }
    }

    /// The keys that a text sets, as ``entries`` names them.
    public static func keysSet(in text: [UInt8]) -> Set<String> {
        guard let document = try? JSONValue(json5: text) else { return [] }
        return Set(leaves(of: document, at: ""))
    }

    private static func leaves(of value: JSONValue, at place: String) -> [String] {
        guard case .object(let members) = value else { return [place] }
        return members.flatMap { leaves(of: $0.value, at: place.isEmpty ? $0.name : "\(place).\($0.name)") }
    }
}

extension BridgeSettings.Replay {
    fileprivate var speedText: String {
        switch speed {
        case .max: "max"
        case .times(let factor): Int(exactly: factor).map { "\($0)" } ?? "\(factor)"
        }
    }
}
