// Which regions' beacons are near: inside at the first sighting, outside after a silence that a listening radio has proved.
import WakeModel

/// Pure. A pause of all radios changes no presence. Without a radio all presences become unknown. Neither is an exit.
struct BeaconRegions: Sendable {
    private struct Region: Hashable, Sendable {
        /// On the clock of listening; nil before the first sighting.
        var seen: Instant?
        /// Since when it is watched, on that clock.
        var since: Instant
        var presence = RegionPresence.unknown
    }

    private var regions: [BeaconPattern: Region] = [:]
    /// How long a beacon may be silent: shorter silences are common, and would be false exits.
    let patience: TimeSpan

    init(patience: TimeSpan = .seconds(30)) { self.patience = patience }

    var isEmpty: Bool { regions.isEmpty }

    /// Watches the regions of manifests from now on. Known ones keep their state.
    mutating func watch(_ patterns: Set<BeaconPattern>, at time: Instant) {
        regions = regions.filter { patterns.contains($0.key) }
        for pattern in patterns where regions[pattern] == nil { regions[pattern] = Region(since: time) }
    }

    /// The regions that are entered with it.
    mutating func hear(_ beacon: Beacon, at time: Instant) -> [BeaconPattern] {
        var entered: [BeaconPattern] = []
        for pattern in regions.keys where pattern.fits(beacon) {
            regions[pattern]?.seen = time
            guard regions[pattern]?.presence != .inside else { continue }
            regions[pattern]?.presence = .inside
            entered.append(pattern)
        }
        return entered
    }

    /// The regions that are left by now.
    mutating func settle(at time: Instant) -> [BeaconPattern] {
        var left: [BeaconPattern] = []
        for (pattern, region) in regions where region.presence != .outside && end(of: region) <= time {
            regions[pattern]?.presence = .outside
            left.append(pattern)
        }
        return left
    }

    /// The regions of which nothing is known any more: there is no radio.
    mutating func lose(at time: Instant) -> [BeaconPattern] {
        let lost = regions.filter { $0.value.presence != .unknown }.map(\.key)
        for pattern in lost { regions[pattern] = Region(since: time) }
        return lost
    }

    private func end(of region: Region) -> Instant { (region.seen ?? region.since) + patience }

    /// When ``settle(at:)`` finds something if no beacon is received, on the clock of listening.
    var nextEnd: Instant? { regions.values.filter { $0.presence != .outside }.map(end).min() }
}
