// Why devices do not wake a handler: none has its profile, the nearest misses it, or one lacks what its profile listens to.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSources

extension HandlerReasons {
    /// A handler that has nothing to do may watch devices that never come to it.
    func deviceCauses(of standing: HandlerStatus) -> [String] {
        guard standing.queuedCount == 0, let settings = catalog.handlers[standing.handler]?.settings else {
            return []
        }
        let known = catalog.devices.compactMap { $0?.device }.filter { !devices.isForgotten($0) }
        let absences = settings.subscriptions.filter { subscription in !known.contains(where: subscription.matches) }
            .map { absence(of: $0, among: known) }
        return absences + lacks(of: standing)
    }

    private func lacks(of standing: HandlerStatus) -> [String] {
        catalog.devices(watchedBy: standing.handler).map(\.device).compactMap { device in
            devices.sources.lack(of: device).map { "\(device.alias) is connected, and \($0.sentence)" }
        }
    }

    private func absence(of subscription: Subscription, among known: [Device]) -> String {
        guard let name = subscription.device else {
            return "no device with the profile \(subscription.profile) is known; "
                + (nearest(to: subscription.profile) ?? advice(onFinding: subscription.profile))
        }
        if let miss = nearest(to: subscription.profile, called: name) { return miss }
        if let other = known.first(where: { $0.alias == name || $0.uri == name }) {
            return
                "\(name) has \(other.profile.map { "the profile \($0)" } ?? "no profile"), and its manifest watches \(subscription.profile)"
        }
        let fitting = known.filter { Subscription(profile: subscription.profile, device: nil).matches($0) }
        let aliases = fitting.map(\.alias).sorted().joined(separator: ", ")
        return "no device is called \(name)" + (aliases.isEmpty ? "" : "; known: \(aliases)")
    }

    /// How a person comes by a device of the profile: that differs with the way by which such devices come.
    private func advice(onFinding profile: String) -> String {
        guard let index = catalog.profiles.index(named: profile) else {
            return "its own bridge has to know it first: see 'wakebridge devices' there"
        }
        let profile = catalog.profiles[index]
        if profile.isOfBroadcasters { return "'wakebridge add' lists the sensors near by and names them" }
        guard let accessory = profile.accessory else { return "'wakebridge setup' looks for one" }
        return accessory.node == .rfcomm
            ? "'wakebridge pair' lists the devices near by and pairs one"
            : "plug it in; 'wakebridge scan --all' shows each accessory that is attached, with its profile"
    }

    /// The device that misses the profile by least; nil where none is like it.
    private func nearest(to profile: String, called name: String? = nil) -> String? {
        guard let index = catalog.profiles.index(named: profile) else { return nil }
        let misses = devices.sources.unwatched.filter { name == nil || [$0.alias, $0.uri].contains(name) }
            .compactMap { $0.reason(for: index, in: catalog.profiles) }
        return misses.max { $0.nearness < $1.nearness }?.sentence
    }
}
