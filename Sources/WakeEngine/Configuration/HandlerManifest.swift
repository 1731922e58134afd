// `handlers.d/<id>.json5`: the program, its user, and the events that wake it.
import WakeAgenda
import WakeCore
import WakeModel
import WakeProfiles

public struct HandlerManifest: Hashable, Sendable {
    /// The file's name without `.json5`; of an instance, with its device.
    public var id: String
    /// Each device that it watches has a process of its own.
    public var isPerDevice = false
    /// Nil for a manifest as it is in its file.
    public var instance: HandlerInstance?
    /// The name of the file in errors.
    public var file: String
    /// The program and its arguments, never empty. The program is absolute, or starts with `./` or `../` and is then
    /// relative to the folder that holds the manifest.
    public var exec: [String]
    /// Nil runs it as the daemon's user, `ownUser` as one that no other handler has.
    public var user: String?
    /// Nil uses the user's own group.
    public var group: String?
    /// Additional groups, by name.
    public var groups: [String] = []
    public var environment: [String: String] = [:]
    /// Absolute; nil starts it in its state folder.
    public var workingDirectory: String?
    /// It may send sd_notify messages.
    public var notifies = false
    public var limits = HandlerLimits()
    public var sleepersListen = SleepersListen.report
    public var settings = HandlerSettings()
    public var agenda = AgendaPlan()
    /// As it was read; empty without a file.
    package private(set) var text: [UInt8] = []

    static let ownUser = "auto"
    package var hasOwnUser: Bool { user == Self.ownUser }

    /// The keys of a manifest: those of event kinds come from their table.
    static var keys: [String] { ownKeys + TriggerKind.all.map(\.manifestKey) }
    private static let ownKeys = [
        "exec", "user", "group", "groups", "env", "cwd", "modes", "watch", "lifecycle", "ready", "ack", "budget",
        "max_extension",
        "on_overrun", "max_batch", "autostart", "timers", "enabled", "stop_events", "idle_exit",
        "allow_background_children", "queue_cap", "notify", "require", "limits", "after", "instance", "sleepers_listen",
    ]
    static let watchKeys = [
        "profile", "device", "wake", "policy", "durability", "max_latency", "queue_cap", "retention",
    ]

    /// Reads one manifest; throws all its faults, but for those of profiles, which ``faults(against:)`` returns.
    /// - Parameters:
    ///   - isRoot: the daemon runs as root, so a manifest without `user` is refused.
    ///   - defaults: the timers of `wakebridge.json5`.
    ///   - isRun: false where its program is not started, and need not be named.
    public init(
        id: String, file: String, text: [UInt8], isRoot: Bool, defaults: HandlerTimers = HandlerTimers(),
        isRun: Bool = true
    ) throws(ConfigurationErrors) {
        let report = ConfigurationReport(file: file)
        self.init(id: id, text: text, isRoot: isRoot, defaults: defaults, isRun: isRun, report: report)
        try report.conclude()
    }

    /// Reads as much of a manifest as is sound, and reports the rest.
    public init(
        id: String, text: [UInt8], isRoot: Bool, defaults: HandlerTimers = HandlerTimers(), isRun: Bool = true,
        report: ConfigurationReport
    ) {
        self.init(id: id, file: report.file)
        self.text = text
        settings.timers = defaults
        if !Self.isIdentifier(id) {
            report.add(
                "\"\(id)\" cannot be a handler's id; name the file with up to 64 of a-z, 0-9, '-', '_' and '.', "
                    + "first a letter or digit"
            )
        }
        if let object = ConfigurationObject(
            document: text, keys: Self.keys, required: isRun ? ["exec"] : [], report: report)
        {
            readProgram(object, isRoot: isRoot, isRun: isRun)
            readSwitches(object)
            readTimers(object)
            requireReason(object)
            readSubscriptions(object)
            readAgenda(object)
            readInstance(object)
            readSleepersListen(object)
        }
    }

    /// A handler without a file: the program of one command.
    public init(id: String, command: [String], settings: HandlerSettings) {
        self.id = id
        file = "the command line"
        exec = command
        // Paths on the command line are relative to the current folder.
        workingDirectory = "."
        self.settings = settings
    }

    private init(id: String, file: String) {
        self.id = id
        self.file = file
        exec = []
    }

    /// `hr` for `hr.json5`; nil for a file that is no manifest: hidden, a backup, or of another kind.
    public static func identifier(ofFile name: String) -> String? {
        let suffix = ".json5"
        guard name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count, !name.hasPrefix(".") else { return nil }
        return String(name.dropLast(suffix.count))
    }

    /// The id becomes the name of a folder and a cgroup, so it must be a plain path component.
    public static func isIdentifier(_ id: String) -> Bool {
        let bytes = Array(id.utf8)
        func isWord(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard let first = bytes.first, isWord(first), bytes.count <= 64 else { return false }
        return bytes.allSatisfy { isWord($0) || "-_.".utf8.contains($0) }
    }
}

extension HandlerManifest {
    /// The files that you would edit to fix it: the program, and the script that an interpreter is given.
    package var programFiles: [String] {
        Array(exec.prefix(1) + exec.dropFirst().filter { $0.hasPrefix("/") }.prefix(1))
    }

    /// `exec` with the program's path made absolute; `folder` is the absolute one that holds the manifest.
    public func command(in folder: String) -> [String] {
        guard let program = exec.first, !program.hasPrefix("/") else { return exec }
        let path = program.split(separator: "/", omittingEmptySubsequences: false).drop { $0 == "." }
        return ["\(folder)/\(path.joined(separator: "/"))"] + exec.dropFirst()
    }

    private mutating func readProgram(_ object: ConfigurationObject, isRoot: Bool, isRun: Bool) {
        exec = object.texts("exec") ?? []
        if isRun { checkExec(object) }
        user = object.text("user")
        group = object.text("group")
        groups = object.texts("groups") ?? groups
        if isRoot, !object.has("user") {
            object.add(
                "user is missing; the bridge runs as root and runs no handler as root unless told, write user: \"auto\"",
                at: "user"
            )
        }
        workingDirectory = object.text("cwd")
        if let workingDirectory, !workingDirectory.hasPrefix("/") {
            object.refuse("cwd", expected: "an absolute path")
        }
        notifies = object.flag("notify") ?? notifies
        if let found = object.object("limits", keys: HandlerLimits.keys) { limits = HandlerLimits(found) }
        readEnvironment(object)
    }

    private func checkExec(_ object: ConfigurationObject) {
        guard object.has("exec"), object.report.errors.allSatisfy({ !$0.sentence.hasPrefix("exec") }) else { return }
        guard let program = exec.first, !program.isEmpty else {
            object.add("exec names no program; write it as [\"/path/to/program\", \"argument\"]", at: "exec")
            return
        }
        if !["/", "./", "../"].contains(where: program.hasPrefix) {
            object.add(
                "exec[0] must be an absolute path, or one that starts with ./ beside the manifest; got \"\(program)\"",
                at: "exec")
        }
    }

    private mutating func readEnvironment(_ object: ConfigurationObject) {
        guard let found = object.object("env", keys: nil) else { return }
        for name in found.keys {
            if name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) || name.utf8.contains(0) {
                object.add("a name in env must have no '='; got \"\(name)\"", at: "env")
            } else if name.hasPrefix("WAKEBRIDGE_") || name == "NOTIFY_SOCKET" {
                object.add("env sets \(name), which the bridge sets itself; remove it", at: "env")
            } else {
                environment[name] = found.anyText(name)
            }
        }
    }
}

/// Its lifecycle and timers.
extension HandlerManifest {
    private mutating func readSwitches(_ object: ConfigurationObject) {
        settings.lifecycle = object.word("lifecycle") ?? settings.lifecycle
        settings.readiness = object.word("ready") ?? settings.readiness
        settings.acknowledgement = object.word("ack") ?? settings.acknowledgement
        settings.onOverrun = object.word("on_overrun") ?? settings.onOverrun
        settings.stoppedEvents = object.word("stop_events") ?? settings.stoppedEvents
        settings.startsAtBoot = object.flag("autostart") ?? settings.startsAtBoot
        settings.isEnabled = object.flag("enabled") ?? settings.isEnabled
        settings.allowsBackgroundChildren =
            object.flag("allow_background_children") ?? settings.allowsBackgroundChildren
        settings.requirements = Set(object.words("require", of: "conditions") ?? [])
        settings.maxBatch = object.integer("max_batch", in: 1...1_024)
        settings.queueCap = object.size("queue_cap", in: Self.queueCapRange) ?? settings.queueCap
        if settings.lifecycle == .oneshot { refuseForOneshot(object) }
    }

    /// A oneshot runs for one batch, so these would never take effect.
    private func refuseForOneshot(_ object: ConfigurationObject) {
        if settings.startsAtBoot {
            object.add(
                "autostart does not fit lifecycle \"oneshot\", which is launched for each batch; remove it",
                at: "autostart")
        }
        if settings.readiness == .explicit {
            object.add(
                "ready \"explicit\" does not fit lifecycle \"oneshot\", whose batch is there from the start; remove it",
                at: "ready")
        }
    }

    private mutating func readTimers(_ object: ConfigurationObject) {
        TimerKeys.read(from: object, into: &settings.timers)
        for key in ["budget", "max_extension", "idle_exit"] {
            TimerKeys.readOwnKey(key, of: object, into: &settings.timers)
        }
        TimerKeys.fitWarning(of: object, into: &settings.timers)
        TimerKeys.checkOrder(of: settings.timers, report: object.report)
    }

    private static let queueCapRange = (64 << 10)...(4 << 30)
}

/// Its instances, and what they may hold while they are frozen.
extension HandlerManifest {
    private enum Instance: String, CaseIterable { case one, device }

    private mutating func readInstance(_ object: ConfigurationObject) {
        let kind: Instance? = object.word("instance")
        isPerDevice = kind == .device
        if isPerDevice, agenda.sockets.contains(where: { !$0.isConnection }) {
            object.add(
                "instance \"device\" makes several handlers of it, and one alone can listen at an address; listen in another manifest",
                at: "instance")
        }
        if isPerDevice, agenda.peripheral != nil {
            object.add(
                "instance \"device\" makes several handlers of it, and one alone can serve a peripheral; serve it in another manifest",
                at: "instance")
        }
        guard isPerDevice, object.any("watch")?.array?.isEmpty ?? true else { return }
        object.add(
            "instance \"device\" gives each device of watch a process of its own, and watch names none; add one to watch",
            at: "instance")
    }

    private mutating func readSleepersListen(_ object: ConfigurationObject) {
        sleepersListen = object.word("sleepers_listen") ?? sleepersListen
        guard settings.lifecycle == .oneshot, object.has("sleepers_listen") else { return }
        object.add(
            "sleepers_listen does not fit lifecycle \"oneshot\", which is never frozen; remove it",
            at: "sleepers_listen")
    }
}

// MARK: Scheduled work
extension HandlerManifest {
    private mutating func readAgenda(_ object: ConfigurationObject) {
        for kind in TriggerKind.all {
            _ = object.convert(kind.manifestKey) { value throws(ProtocolFault) in try agenda.read(value, of: kind) }
        }
        agenda.gates = object.convert("after", AgendaPlan.gates) ?? []
        settings.hasGates = !agenda.gates.isEmpty
        let program = ScheduledProgram(
            endsAfterBatch: settings.lifecycle == .oneshot, acknowledgesByWrite: settings.acknowledgement == .delivery,
            declaredKeys: Set(TriggerKind.all.map(\.manifestKey).filter(object.has)))
        for fault in agenda.contradictions(with: program) { object.add(fault.sentence, at: fault.key) }
    }

    /// Keys of events that come without a device and without an order.
    private static var reasons: [String] { TriggerKind.all(.comesUnasked).map(\.manifestKey) }

    /// It names devices, or something that comes due, or is started at boot; gates alone give it nothing to do.
    private func requireReason(_ object: ConfigurationObject) {
        if ["modes", "watch"].contains(where: object.has) { return object.require(["modes", "watch"]) }
        guard !settings.startsAtBoot, !Self.reasons.contains(where: object.has) else { return }
        guard object.has("after") else { return object.require(["modes", "watch"]) }
        object.add(
            "after says what it waits for, and nothing starts it then; add autostart: true, or "
                + "\((["watch"] + Self.reasons).listed)",
            at: "after")
    }
}

/// The events that wake it.
extension HandlerManifest {
    private mutating func readSubscriptions(_ object: ConfigurationObject) {
        settings.modes = Set(object.words("modes", of: "modes") ?? [])
        let watches = object.objects("watch", keys: Self.watchKeys, required: ["profile"]) ?? []
        settings.subscriptions = watches.compactMap(Self.subscription)
        refuseDoubles(object.report)
    }

    private static func subscription(_ watch: ConfigurationObject) -> Subscription? {
        guard let profile = watch.text("profile") else { return nil }
        var subscription = Subscription(profile: profile, device: watch.text("device"))
        subscription.wakes = watch.flag("wake") ?? subscription.wakes
        subscription.policy = watch.word("policy") ?? subscription.policy
        subscription.durability = watch.word("durability") ?? subscription.durability
        subscription.maxLatency = watch.span("max_latency", in: .zero ... .seconds(86_400))
        subscription.queueCap = watch.size("queue_cap", in: queueCapRange) ?? subscription.queueCap
        subscription.retention = watch.span("retention", in: .seconds(1) ... .seconds(3_650 * 86_400))
        return subscription
    }

    /// Two subscriptions to the same events could differ in policy, and it would be unclear which counts.
    private func refuseDoubles(_ report: ConfigurationReport) {
        struct Watched: Hashable { var profile: String, device: String? }
        var seen: Set<Watched> = []
        for subscription in settings.subscriptions
        where !seen.insert(Watched(profile: subscription.profile, device: subscription.device)).inserted {
            let device = subscription.device.map { " of device \"\($0)\"" } ?? ""
            report.add(
                "watch names profile \"\(subscription.profile)\"\(device) twice; keep one",
                at: .key("watch"))
        }
    }

    /// Unknown profiles, those outside the declared modes, and those that cannot be read for now.
    /// - Parameter knowsModes: false where `modes` could not be read.
    public func faults(against profiles: ProfileLibrary, knowsModes: Bool = true) -> [ConfigurationError] {
        let report = ConfigurationReport(file: file)
        var unread: [ConfigurationError] = []
        for (position, subscription) in settings.subscriptions.enumerated() {
            let path = ConfigurationPath.value(of: "profile", .element(.key("watch"), position))
            let place = "\(path) is \"\(subscription.profile)\""
            guard let index = profiles.index(named: subscription.profile) else {
                // Another bridge may have profiles that this one lacks.
                if knowsModes, settings.modes.allSatisfy(\.isRelayed) { continue }
                let near = nearestName(to: subscription.profile, among: profiles.names)
                let advice = near.map { "did you mean \"\($0)\"?" } ?? "put it into Devices or correct the name"
                report.add("\(place), which is no known profile; \(advice)", at: path)
                continue
            }
            let mode = profiles[index].kind
            unread += profiles.lateFaults(of: index).filter(\.isPassing)
            if knowsModes, !settings.modes.contains(mode), !settings.modes.contains(where: \.isRelayed) {
                report.add(
                    "\(place) of mode \"\(mode.rawValue)\", which modes does not declare; add it there", at: path)
            }
        }
        refuseNeedlessBond(profiles, report)
        return report.errors + unread
    }

    /// Otherwise the handler would never wake, and its devices would look silent.
    private func refuseNeedlessBond(_ profiles: ProfileLibrary, _ report: ConfigurationReport) {
        let watched = settings.subscriptions.compactMap { profiles.index(named: $0.profile) }.map { profiles[$0] }
        guard settings.requirements.contains(.bonded), watched.count == settings.subscriptions.count,
            !watched.contains(where: \.isOfBluetooth)
        else { return }
        report.add(
            "require names \"bonded\", but watch names only accessories without Bluetooth, which have no bond, "
                + "so it would never be woken; remove \"bonded\", or watch a profile of Bluetooth devices",
            at: .key("require"))
    }
}
