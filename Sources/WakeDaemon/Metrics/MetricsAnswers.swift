// `GET /metrics`: gathers a snapshot of the running daemon, and answers with its text.
import Glibc
import WakeControl
import WakeCore
import WakeEngine
import WakeJournal
import WakeModel
import WakeSystem

extension ControlAnswers {
    /// - Parameter accept: what the client accepts, as it sent it.
    func metrics(accept: String) -> ControlResponse {
        let format = ExpositionFormat(accepting: accept)
        return .content(type: format.contentType, MetricsPage.text(of: snapshot(), in: format))
    }

    private func snapshot() -> MetricsSnapshot {
        metricsBook.keepHandlers { bridge.catalog.handlers[$0] != nil }
        return MetricsSnapshot(
            bridge: bridgeFacts(), journal: JournalMeasure(of: bridge.journal).facts, events: eventFacts(),
            gaps: metricsBook.gaps, devices: deviceFacts(), adapters: adapters() ?? [], handlers: handlerFacts())
    }

    private func bridgeFacts() -> MetricsSnapshot.BridgeFacts {
        MetricsSnapshot.BridgeFacts(
            version: Daemon.version, startTime: metricsBook.startTime(at: bridge.turn.clock.stamp()),
            processorTime: SystemClock.processorTime(), residentBytes: MemoryPressure.ownResidentBytes,
            suspendsByCgroup: bridge.strength == .strong, warnings: warnings,
            stays: loopStays)
    }

    // MARK: Events and devices

    private func eventFacts() -> [MetricsSnapshot.EventFacts] {
        var modes: [SourceKind: DeviceCounts] = [:]
        for entry in bridge.catalog.devices {
            guard let entry else { continue }
            modes[entry.device.kind, default: DeviceCounts()].add(metricsBook.counts(of: entry.id))
        }
        let devices = modes.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, counts in
            MetricsSnapshot.EventFacts(mode: kind.rawValue, byKind: counts.byKind, unwatched: counts.unwatched)
        }
        return devices
            + Occasion.Reason.allCases.map { reason in
                let count = metricsBook.occasions[reason] ?? 0
                return .init(mode: reason.rawValue, byKind: [("occasion", count)], unwatched: 0)
            }
    }

    private func deviceFacts() -> [MetricsSnapshot.DeviceFacts] {
        bridge.catalog.devices.compactMap { $0 }.filter { !isForgotten($0.device) }.map { entry in
            let device = entry.device
            return MetricsSnapshot.DeviceFacts(
                alias: device.alias, uri: device.uri, mode: device.kind.rawValue, profile: device.profile ?? "",
                link: entry.isConnected.map { $0 ? .connected : .disconnected } ?? .unknown,
                lastData: bridge.catalog.lastData(of: entry.id), counts: metricsBook.counts(of: entry.id))
        }
    }

    // MARK: Handlers

    private func handlerFacts() -> [MetricsSnapshot.HandlerFacts] {
        let letters = bridge.journal.deadLetterCounts()
        let facts: [MetricsSnapshot.HandlerFacts] = bridge.turn.handlerStatuses.compactMap { standing in
            guard let manifest = bridge.catalog.handlers[standing.handler] else { return nil }
            return MetricsSnapshot.HandlerFacts(
                name: manifest.name, standing: standing, counts: metricsBook.counts(of: standing.handler),
                delivered: history.deliveryCount(standing.handler), budget: manifest.settings.timers.budget,
                processorTime: bridge.executor.processorTime(of: standing.handler),
                deadLetters: letters[standing.handler] ?? 0, scheduled: bridge.turn.outlook(of: standing.handler).count)
        }
        return facts.sorted { $0.name < $1.name }
    }
}

/// Looks at the journal's files.
private struct JournalMeasure {
    let facts: MetricsSnapshot.JournalFacts

    init(of journal: Journal) {
        let health = journal.health
        let stores = [(Durability.run, health.run), (.disk, health.disk)].map { which, health in
            MetricsSnapshot.JournalFacts.Store(
                name: which.rawValue,
                bytes: journal.files(of: which).reduce(0) { $0 + (File.size(of: $1) ?? 0) },
                isHealthy: health == .ok)
        }
        facts = MetricsSnapshot.JournalFacts(
            stores: stores, limitBytes: journal.maxBytes, commits: journal.commitCount)
    }
}
