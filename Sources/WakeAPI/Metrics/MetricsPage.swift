// The text of a scrape: every family with the values that a snapshot has for it.
import WakeControl
import WakeCore
import WakeModel

struct MetricsPage {
    private let snapshot: MetricsSnapshot
    private var writer: ExpositionWriter
    private let devices: [Labelled<MetricsSnapshot.DeviceFacts>]
    private let handlers: [Labelled<MetricsSnapshot.HandlerFacts>]

    private struct Labelled<Facts> {
        let labels: MetricLabels
        let facts: Facts
    }

    static func text(of snapshot: MetricsSnapshot, in format: ExpositionFormat) -> [UInt8] {
        var page = MetricsPage(snapshot, format)
        page.write()
        return page.writer.bytes
    }

    private init(_ snapshot: MetricsSnapshot, _ format: ExpositionFormat) {
        self.snapshot = snapshot
        writer = ExpositionWriter(format)
        devices = Self.labelled(snapshot.devices)
        handlers = snapshot.handlers.map { Labelled(labels: MetricLabels("handler", $0.name), facts: $0) }
    }

    /// A second device of one alias goes by its source: of two samples with the same labels a scrape loses all.
    private static func labelled(
        _ devices: [MetricsSnapshot.DeviceFacts]
    ) -> [Labelled<MetricsSnapshot.DeviceFacts>] {
        var aliases: Set<String> = []
        return devices.map { device in
            let isFirst = aliases.insert(device.alias).inserted
            return Labelled(labels: MetricLabels("device", isFirst ? device.alias : device.uri), facts: device)
        }
    }

    private mutating func write() {
        writeBridge()
        writeJournal()
        writeEvents()
        writeDevices()
        writeAdapters()
        writeStanding()
        writeWakes()
        writeWork()
        writePenalties()
        writer.end()
    }

    // MARK: The daemon

    private mutating func writeBridge() {
        let bridge = snapshot.bridge
        writer.begin(.build)
        writer.sample(MetricLabels("version", bridge.version), true)
        writer.begin(.startTime)
        writer.sample(.none, bridge.startTime.seconds)
        writer.begin(.processorTime)
        writer.sample(.none, bridge.processorTime)
        writer.begin(.residentMemory)
        writer.sample(.none, bridge.residentBytes)
        writer.begin(.strongSuspension)
        writer.sample(.none, bridge.suspendsByCgroup)
        writer.begin(.warnings)
        writer.sample(.none, bridge.warnings.count)
        writer.begin(.warningsByCode)
        for code in BridgeWarning.Code.allCases {
            writer.sample(MetricLabels("code", code.rawValue), bridge.warnings.count { $0.code == code })
        }
        writer.begin(.longestCall)
        for stay in bridge.stays { writer.sample(MetricLabels("cause", stay.cause), stay.longest) }
        writer.begin(.longCalls)
        for stay in bridge.stays { writer.sample(MetricLabels("cause", stay.cause), stay.overPatience) }
    }

    private mutating func writeJournal() {
        let journal = snapshot.journal
        writer.begin(.journalSize)
        for store in journal.stores { writer.sample(MetricLabels("store", store.name), store.bytes) }
        writer.begin(.journalLimit)
        writer.sample(.none, journal.limitBytes)
        writer.begin(.journalHealth)
        for store in journal.stores { writer.sample(MetricLabels("store", store.name), store.isHealthy) }
        writer.begin(.journalCommits)
        writer.sample(.none, journal.commits)
    }

    // MARK: Events and devices

    private mutating func writeEvents() {
        writer.begin(.events)
        for one in snapshot.events {
            let mode = MetricLabels("mode", one.mode)
            for (kind, count) in one.byKind { writer.sample(mode.adding("kind", kind), count) }
        }
        writer.begin(.unwatchedEvents)
        for one in snapshot.events { writer.sample(MetricLabels("mode", one.mode), one.unwatched) }
        writer.begin(.gaps)
        for cause in GapCause.allCases {
            writer.sample(MetricLabels("cause", cause.rawValue), snapshot.gaps[cause] ?? 0)
        }
    }

    private mutating func writeDevices() {
        writer.begin(.devices)
        writeDeviceNumbers()
        writer.begin(.connected)
        for one in devices where one.facts.link != .unknown {
            let labels = one.labels.adding("mode", one.facts.mode).adding("profile", one.facts.profile)
            writer.sample(labels, one.facts.link == .connected)
        }
        writer.begin(.lastData)
        for one in devices { if let time = one.facts.lastData { writer.sample(one.labels, time.seconds) } }
        writer.begin(.deviceEvents)
        for one in devices { writer.sample(one.labels, one.facts.counts.events) }
        writer.begin(.disconnects)
        for one in devices { writer.sample(one.labels, UInt64(one.facts.counts.disconnects)) }
        writer.begin(.deviceGaps)
        for one in devices { writer.sample(one.labels, UInt64(one.facts.counts.gaps)) }
    }

    private mutating func writeDeviceNumbers() {
        let modes = Dictionary(grouping: snapshot.devices) { $0.mode }
        for (mode, devices) in modes.sorted(by: { $0.key < $1.key }) {
            for link in MetricsSnapshot.DeviceFacts.Link.allCases {
                let labels = MetricLabels("mode", mode).adding("link", link.rawValue)
                writer.sample(labels, devices.count { $0.link == link })
            }
        }
    }

    private mutating func writeAdapters() {
        let adapters = snapshot.adapters.map { Labelled(labels: MetricLabels("adapter", $0.address), facts: $0) }
        writer.begin(.adapterPower)
        for one in adapters { writer.sample(one.labels, one.facts.isPowered) }
        writer.begin(.adapterLinks)
        for one in adapters { writer.sample(one.labels, one.facts.links) }
        writer.begin(.adapterMost)
        for one in adapters { if let most = one.facts.mostLinks { writer.sample(one.labels, most) } }
        writer.begin(.adapterWaiting)
        for one in adapters { writer.sample(one.labels, one.facts.waiting.count) }
    }

    // MARK: Handlers

    private mutating func writeStanding() {
        writer.begin(.state)
        for one in handlers {
            for state in HandlerState.allCases {
                writer.sample(one.labels.adding("state", state.rawValue), one.facts.standing.state == state)
            }
        }
        writer.begin(.queued)
        for one in handlers { writer.sample(one.labels, one.facts.standing.queuedCount) }
        writer.begin(.queuedSize)
        for one in handlers { writer.sample(one.labels, one.facts.standing.queuedBytes) }
        writer.begin(.openEvents)
        for one in handlers { writer.sample(one.labels, one.facts.standing.openCount) }
        writer.begin(.scheduled)
        for one in handlers { writer.sample(one.labels, one.facts.scheduled) }
        writer.begin(.deadLetters)
        for one in handlers { writer.sample(one.labels, one.facts.deadLetters) }
    }

    private mutating func writeWakes() {
        writer.begin(.wakes)
        for one in handlers {
            writer.sample(one.labels.adding("by", "thaw"), one.facts.standing.thaws)
            writer.sample(one.labels.adding("by", "launch"), one.facts.standing.launches)
        }
        writer.begin(.wakeLatency)
        for one in handlers { writer.sample(one.labels, one.facts.counts.wakeLatency) }
        writer.begin(.awake)
        for one in handlers { writer.sample(one.labels, one.facts.standing.awake) }
        writer.begin(.handlerProcessorTime)
        for one in handlers { if let time = one.facts.processorTime { writer.sample(one.labels, time) } }
        writer.begin(.budget)
        for one in handlers { writer.sample(one.labels, one.facts.budget) }
        writer.begin(.budgetUsed)
        for one in handlers { writer.sample(one.labels, one.facts.counts.budgetUsed) }
    }

    private mutating func writeWork() {
        writer.begin(.delivered)
        for one in handlers { writer.sample(one.labels, one.facts.delivered) }
        writer.begin(.acknowledged)
        for one in handlers {
            let outcomes = one.facts.standing.outcomes
            writer.sample(one.labels.adding("result", "useful"), outcomes.useful)
            writer.sample(one.labels.adding("result", "nothing"), outcomes.nothing)
            writer.sample(one.labels.adding("result", "failed"), outcomes.failed)
            writer.sample(one.labels.adding("result", "unsaid"), outcomes.unsaid)
        }
        writer.begin(.refused)
        for one in handlers { writer.sample(one.labels, one.facts.counts.refused) }
        writer.begin(.faults)
        for one in handlers { writer.sample(one.labels, one.facts.counts.faults) }
    }

    private mutating func writePenalties() {
        writer.begin(.overruns)
        for one in handlers { writer.sample(one.labels, one.facts.counts.overruns) }
        writer.begin(.strikes)
        for one in handlers { writer.sample(one.labels, one.facts.standing.strikes) }
        writer.begin(.holds)
        for one in handlers { writer.sample(one.labels, one.facts.counts.holds) }
        writer.begin(.heldFor)
        for one in handlers { writer.sample(one.labels, one.facts.standing.heldFor ?? .zero) }
        writer.begin(.ends)
        for one in handlers {
            for (reason, count) in one.facts.counts.ends.sorted(by: { $0.key < $1.key }) {
                writer.sample(one.labels.adding("reason", reason), count)
            }
        }
        writer.begin(.lettersMade)
        for one in handlers { writer.sample(one.labels, one.facts.counts.deadLettered) }
    }
}

extension WallTime {
    fileprivate var seconds: Double { Double(microseconds) / 1e6 }
}
