// `GET /metrics`: gathers a snapshot of the running daemon, and answers with its text.
import Glibc
import WakeControl
import WakeCore
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

extension Endpoint {
    static let metrics: [Endpoint] = [
        Endpoint(.get("/metrics", .read), "metrics for Prometheus", .text("application/openmetrics-text")) {
            api, asked in api.metrics.answer(accept: asked.request.accept)
        }
    ]
}

struct MetricsAnswers {
    let facts: RunFacts
    let book: MetricsBook
    let journal: Journal
    let loop: EventLoop
    let handlers: HandlerReports
    let devices: KnownDevices
    let owner: Owner
    private var catalog: Catalog { devices.catalog }
    private var turn: Turn { handlers.turn }

    /// - Parameter accept: what the client accepts, as it sent it.
    func answer(accept: String) -> ControlResponse {
        let format = ExpositionFormat(accepting: accept)
        return .content(type: format.contentType, MetricsPage.text(of: snapshot(), in: format))
    }

    private func snapshot() -> MetricsSnapshot {
        book.keepHandlers { catalog.handlers[$0] != nil }
        return MetricsSnapshot(
            bridge: bridgeFacts(), journal: JournalMeasure(of: journal).facts, events: eventFacts(),
            gaps: book.gaps, devices: deviceFacts(), adapters: devices.adapters() ?? [], handlers: handlerFacts())
    }

    private func bridgeFacts() -> MetricsSnapshot.BridgeFacts {
        MetricsSnapshot.BridgeFacts(
            version: facts.version, startTime: book.startTime(at: turn.clock.stamp()),
            processorTime: SystemClock.processorTime(), residentBytes: MemoryPressure.ownResidentBytes,
            suspendsByCgroup: facts.strength == .strong, warnings: owner.warnings,
            stays: LoopStayReport.all(of: loop))
    }

    // MARK: Events and devices

    private func eventFacts() -> [MetricsSnapshot.EventFacts] {
        var modes: [SourceKind: DeviceCounts] = [:]
        for entry in catalog.devices {
            guard let entry else { continue }
            modes[entry.device.kind, default: DeviceCounts()].add(book.counts(of: entry.id))
        }
        let devices = modes.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, counts in
            MetricsSnapshot.EventFacts(mode: kind.rawValue, byKind: counts.byKind, unwatched: counts.unwatched)
        }
        return devices
            + Occasion.Reason.allCases.map { reason in
                let count = book.occasions[reason] ?? 0
                return .init(mode: reason.rawValue, byKind: [("occasion", count)], unwatched: 0)
            }
    }

    private func deviceFacts() -> [MetricsSnapshot.DeviceFacts] {
        catalog.devices.compactMap { $0 }.filter { !devices.isForgotten($0.device) }.map { entry in
            let device = entry.device
            return MetricsSnapshot.DeviceFacts(
                alias: device.alias, uri: device.uri, mode: device.kind.rawValue, profile: device.profile ?? "",
                link: entry.isConnected.map { $0 ? .connected : .disconnected } ?? .unknown,
                lastData: catalog.lastData(of: entry.id), counts: book.counts(of: entry.id))
        }
    }

    // MARK: Handlers

    private func handlerFacts() -> [MetricsSnapshot.HandlerFacts] {
        let letters = journal.deadLetterCounts()
        let facts: [MetricsSnapshot.HandlerFacts] = turn.handlerStatuses.compactMap { standing in
            guard let manifest = catalog.handlers[standing.handler] else { return nil }
            return MetricsSnapshot.HandlerFacts(
                name: manifest.name, standing: standing, counts: book.counts(of: standing.handler),
                delivered: handlers.history.deliveryCount(standing.handler), budget: manifest.settings.timers.budget,
                processorTime: handlers.executor.processorTime(of: standing.handler),
                deadLetters: letters[standing.handler] ?? 0, scheduled: turn.outlook(of: standing.handler).count)
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
