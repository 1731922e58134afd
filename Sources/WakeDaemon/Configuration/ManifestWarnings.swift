// Warnings about valid manifests: handlers with surprising power, and handlers that never run or wake.
import Glibc
import WakeAPI
import WakeAgenda
import WakeControl
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

enum ManifestWarnings {
    /// A daemon that is not root has one user for all, and no choice to warn of.
    static func all(of manifests: some Collection<HandlerManifest>, _ accounts: AccountBook) -> [BridgeWarning] {
        guard geteuid() == 0 else { return [] }
        let manifests = manifests.sorted { $0.id < $1.id }
        return ofSharedUsers(manifests, accounts) + manifests.compactMap { ofStrongGroups($0, accounts) }
    }

    /// Flows that are to take no more than a share of a processor, where the kernel keeps no such limit.
    static func ofUnkeptLimits(
        _ manifests: some Collection<HandlerManifest>, _ limits: ProcessorLimits
    ) -> [BridgeWarning] {
        let limited = manifests.filter { $0.agenda.flows.contains { $0.processorShare != nil } }.sorted {
            $0.id < $1.id
        }
        guard !limited.isEmpty, !limits.canLimit(), let reason = limits.blockingReason else { return [] }
        return limited.map { manifest in
            BridgeWarning(
                "handler \"\(manifest.id)\" gives a flow a share of a processor, which is not kept", of: manifest.id,
                why: reason,
                advice: "take \"cpu\" out of its flows, or have the daemon lent the cpu controller")
        }
    }

    /// A manifest with instances that has no device, or more than it may have.
    static func ofInstances(_ template: HandlerManifest, count: Int, without: [String]) -> BridgeWarning? {
        if count == 0 {
            return BridgeWarning(
                "handler \"\(template.id)\" has no instance", code: .handlerLacks, of: template.id,
                why: "no device that it watches is known",
                advice: "pair a device, or correct watch in its manifest")
        }
        guard let first = without.first else { return nil }
        let others = without.count > 1 ? " and \((without.count - 1).counted("other device"))" : ""
        return BridgeWarning(
            "handler \"\(template.id)\" has no instance for \(first)\(others)", code: .handlerLacks, of: template.id,
            why: "a manifest has at most \(HandlerManifest.mostInstances)",
            advice: "name the devices that matter under watch, or forget those that do not")
    }

    /// A program that its user cannot run, or a folder in which it cannot start.
    /// - Parameters:
    ///   - manifest: with the program's path made absolute.
    ///   - account: whose rights count.
    ///   - stateDirectory: the one of the bridge, which holds the folder in which it starts without `cwd`.
    static func ofProgram(_ manifest: HandlerManifest, _ account: Account, stateDirectory: String) -> BridgeWarning? {
        guard let (obstacle, key) = obstacle(to: manifest, account, stateDirectory: stateDirectory) else { return nil }
        let reason = obstacle.reason(for: account.name)
        let fault = ConfigurationError(file: manifest.file, sentence: reason, place: .key(key))
        let line = ConfigurationErrors([fault]).located(in: manifest.text).all.first?.line
        let place = line.map { " (\(key) in line \($0) of \(manifest.file))" } ?? ""
        return BridgeWarning(
            "handler \"\(manifest.name)\" cannot start", code: .handlerLacks, of: manifest.id, why: reason + place,
            advice: obstacle.advice)
    }

    /// With the key of the manifest that leads there.
    static func obstacle(
        to manifest: HandlerManifest, _ account: Account, stateDirectory: String
    ) -> (obstacle: ProgramLook.Obstacle, key: String)? {
        if let directory = manifest.workingDirectory,
            let obstacle = ProgramLook.obstacle(toEnter: directory, for: account)
        {
            return (obstacle, "cwd")
        }
        let directory = manifest.workingDirectory ?? "\(stateDirectory)/handlers/\(manifest.id)"
        return ProgramLook.obstacle(to: manifest.exec, in: directory, for: account).map { ($0, "exec") }
    }

    /// Devices that a manifest names and that are not known; a device that was never there may still come.
    /// - Parameter known: the alias and the source of each.
    static func ofUnknownDevices(
        _ manifests: some Collection<HandlerManifest>, known: [(alias: String, source: String)]
    ) -> [BridgeWarning] {
        manifests.sorted { $0.id < $1.id }.flatMap { manifest in
            manifest.settings.subscriptions.compactMap(\.device)
                .filter { name in !known.contains { $0.alias == name || $0.source == name } }
                .map { ofUnknownDevice($0, of: manifest, known.map(\.alias).sorted()) }
        }
    }

    private static func ofUnknownDevice(
        _ name: String, of manifest: HandlerManifest, _ known: [String]
    ) -> BridgeWarning {
        let near = nearestName(to: name, among: known).map { "did you mean \"\($0)\"?" }
        let list = known.isEmpty ? "none is known" : "known: \(known.joined(separator: ", "))"
        return BridgeWarning(
            "handler \"\(manifest.id)\" watches a device \"\(name)\"", code: .handlerLacks, of: manifest.id,
            why: "no device is called that; \(list)",
            advice: near ?? "correct the name, or pair the device")
    }

    /// Paths and zones that a manifest waits for or goes by, and that are not there. Both may still come.
    static func ofAbsentPlaces(_ manifest: HandlerManifest, zones: ZoneFiles = ZoneFiles()) -> [BridgeWarning] {
        let paths = manifest.agenda.conditions.filter { condition in
            condition.path.map { !File.exists($0) } ?? false
        }
        return paths.map { ofAbsentPath($0, of: manifest) }
            + manifest.agenda.zones.filter { zones.bytes(of: $0) == nil }.map { ofAbsentZone($0, of: manifest) }
    }

    /// Topics of an inbox, where no broker is configured.
    static func ofAbsentBroker(_ manifest: HandlerManifest) -> BridgeWarning? {
        guard let topic = manifest.agenda.inbox?.brokerTopics.first else { return nil }
        return BridgeWarning(
            "the inbox of handler \"\(manifest.id)\" gets nothing from \"\(topic)\"", code: .handlerLacks,
            of: manifest.id,
            why: "no broker is configured",
            advice: "name one under mqtt in wakebridge.json5, or remove mqtt from the inbox")
    }

    private static func ofAbsentPath(_ condition: Condition, of manifest: HandlerManifest) -> BridgeWarning {
        BridgeWarning(
            "handler \"\(manifest.id)\" waits for \"\(condition.word)\"", code: .handlerLacks, of: manifest.id,
            why: "there is no \(condition.path ?? "")",
            advice: "correct the path, or make the folder that is to be mounted or unlocked")
    }

    private static func ofAbsentZone(_ name: String, of manifest: HandlerManifest) -> BridgeWarning {
        BridgeWarning(
            "handler \"\(manifest.id)\" has an alarm in the time zone \"\(name)\"", code: .handlerLacks,
            of: manifest.id,
            why: "there is no such zone below /usr/share/zoneinfo, and it does not fire",
            advice: "correct the name, such as \"Europe/Berlin\", or install tzdata")
    }

    /// A member of one of these groups can become root, or read what only root should.
    private static let strongGroups: Set = [
        "root", "sudo", "wheel", "admin", "docker", "podman", "lxd", "incus", "incus-admin", "disk", "shadow", "kmem",
        "libvirt", "sys",
    ]

    private static func ofStrongGroups(_ manifest: HandlerManifest, _ accounts: AccountBook) -> BridgeWarning? {
        guard let account = try? accounts.account(of: manifest), account.user != 0 else { return nil }
        let names = account.groups.compactMap { GroupName.text(of: $0) }.filter(strongGroups.contains)
        guard !names.isEmpty else { return nil }
        return BridgeWarning(
            "handler \"\(manifest.id)\" is in the group \(names.joined(separator: " and "))", of: manifest.id,
            why: "what it runs can become root, or read what is root's",
            advice: "give it a user and groups that have only what it needs")
    }

    private static func ofSharedUsers(_ manifests: [HandlerManifest], _ accounts: AccountBook) -> [BridgeWarning] {
        var sharers: [UInt32: (name: String, handlers: [String])] = [:]
        for manifest in manifests where !manifest.hasOwnUser {
            guard let account = try? accounts.account(of: manifest) else { continue }
            sharers[account.user, default: (account.name, [])].handlers.append(manifest.id)
        }
        return sharers.values.filter { $0.handlers.count > 1 }.sorted { $0.handlers[0] < $1.handlers[0] }
            .map { ofSharedUser($0.name, $0.handlers) }
    }

    private static func ofSharedUser(_ user: String, _ handlers: [String]) -> BridgeWarning {
        let quoted = handlers.map { "\"\($0)\"" }
        let names = quoted.dropLast().joined(separator: ", ") + " and " + quoted[quoted.count - 1]
        let why =
            handlers.count == 2
            ? "each can read the other's memory and state, and answer in its name"
            : "each can read the memory and state of the others, and answer in their names"
        return BridgeWarning(
            "handlers \(names) run as one user, \(user)", why: why, advice: "write user: \"auto\" in their manifests")
    }
}
