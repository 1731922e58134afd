// The part of other settings that a running daemon takes, and the part that waits for its next start. Pure.

public struct SettingsChange: Hashable, Sendable {
    /// Keys that take effect at once.
    public let applied: [String]
    /// Keys that take effect at the next start.
    public let postponed: [String]
    /// The settings of the running daemon from then on.
    public let settings: BridgeSettings

    /// - Parameters:
    ///   - running: what the daemon has.
    ///   - read: the settings in its file now.
    public init(from running: BridgeSettings, to read: BridgeSettings) {
        settings = running.taking(read)
        applied = running.keys(differingFrom: settings)
        postponed = settings.keys(differingFrom: read)
    }
}

extension BridgeSettings {
    /// Takes the settings by which nothing was opened, allotted or announced at the start.
    fileprivate func taking(_ read: BridgeSettings) -> BridgeSettings {
        var taken = self
        taken.alerts = read.alerts
        taken.broadcasts = read.broadcasts
        (taken.log.linesPerSecond, taken.log.burst) = (read.log.linesPerSecond, read.log.burst)
        if let fields = read.mqtt?.fields { taken.mqtt?.fields = fields }
        return taken
    }

    fileprivate func keys(differingFrom other: BridgeSettings) -> [String] {
        // An object that comes or goes is one change.
        let whole = [
            ("web", web == nil, other.web == nil), ("mqtt", mqtt == nil, other.mqtt == nil),
            ("replay", replay == nil, other.replay == nil),
        ].filter { $0.1 != $0.2 }.map(\.0)
        let (own, others) = (values, other.values)
        let names = entries.map(\.key) + other.entries.map(\.key).filter { own[$0] == nil }
        let single = names.filter { name in
            name != "mqtt.fields" && !whole.contains { name.hasPrefix($0 + ".") } && own[name] != others[name]
        }
        return whole + single.filter { $0 != "remote" } + fields(differingFrom: other)
            + (remotes == other.remotes ? [] : ["remote"])
    }

    private var values: [String: String?] { Dictionary(entries.map { ($0.key, $0.value) }) { $1 } }

    private func fields(differingFrom other: BridgeSettings) -> [String] {
        guard let own = mqtt?.fields, let others = other.mqtt?.fields else { return [] }
        let names = Set(own.keys).union(others.keys).filter { own[$0] != others[$0] }
        return names.sorted().map { "mqtt.fields.\($0)" }
    }
}
