// The API: its areas, the table of all its endpoints, and the way from a request to its answer.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// The faults that the daemon found in manifests.
package protocol ManifestFindings: AnyObject {
    /// Each file of the configuration that is not taken as it is.
    var refusals: [BridgeWarning] { get }
    /// Why handlers of the manifest cannot start, as it was found last.
    func obstacle(to manifest: String) -> BridgeWarning?
}

/// The daemon's work for clients.
package protocol APIOwner: ManifestFindings {
    var configurationDirectory: String { get }
    func reload() -> Reload
    /// All that is doubtful about manifests that are taken.
    var warnings: [BridgeWarning] { get }
    /// All that is wrong with brokers and their messages.
    var warningsOfBrokers: [BridgeWarning] { get }
    /// Looks again at what may have come or gone without a change of a manifest; `timer` fires when that is known.
    func inspect(firing timer: Timer?)
    /// A client has opened, paused or closed the device's session.
    func sessionChanged(of device: EventOrigin)
    /// Instances of manifests began, were renamed or ended; no client holds an ended one any more.
    func instancesChanged(ended: [HandlerID])
}

/// The daemon, for the areas that reach it.
struct Owner {
    unowned let daemon: any APIOwner
    let reasons: HandlerReasons
    let entry: WebEntry

    /// Every condition of the bridge that needs a person.
    var warnings: [BridgeWarning] {
        daemon.refusals + daemon.warnings + reasons.warningsOfSockets + daemon.warningsOfBrokers + entry.warnings
    }
}

/// Each area has what it reads and what it may do, and no more.
package final class API {
    let status: StatusAnswers
    let metrics: MetricsAnswers
    package let handlers: HandlerAnswers
    let schedule: ScheduleAnswers
    let inbox: InboxAnswers
    let devices: DeviceAnswers
    let accessories: AccessoryAnswers
    let orders: OrderAnswers
    let deadLetters: DeadLetterAnswers
    let events: EventStreams
    let day: DayStreams
    let logs: LogAnswers
    let web: WebAnswers
    let watching: WatchingAnswers
    package let knownDevices: KnownDevices
    private let owner: Owner

    /// Ends with the bridge. `daemon` outlives it.
    package init(
        of bridge: Bridge, _ facts: RunFacts, for daemon: any APIOwner, _ sources: LiveSources,
        on machine: any MachineReading, _ logBook: HandlerLogBook, _ history: WakeHistory, _ book: MetricsBook,
        _ entry: WebEntry, _ watching: Watching
    ) {
        let (engine, executor, loop) = (bridge.engine, bridge.executor, bridge.loop)
        let (turn, catalog, journal) = (bridge.turn, bridge.catalog, bridge.journal)
        let known = KnownDevices(catalog: catalog, sources: sources)
        let names = HandlerNames(catalog: catalog, turn: turn, executor: executor, findings: daemon)
        let reasons = HandlerReasons(
            catalog: catalog, turn: turn, executor: executor, logBook: logBook, devices: known,
            findings: daemon)
        let reports = HandlerReports(
            catalog: catalog, turn: turn, executor: executor, history: history, reasons: reasons,
            startedAt: facts.startedAt)
        let owner = Owner(daemon: daemon, reasons: reasons, entry: entry)
        knownDevices = known
        status = StatusAnswers(
            facts: facts, journal: journal, loop: loop, handlers: reports, devices: known, owner: owner)
        metrics = MetricsAnswers(
            facts: facts, book: book, journal: journal, loop: loop, handlers: reports, devices: known,
            owner: owner)
        schedule = ScheduleAnswers(catalog: catalog, turn: turn, names: names)
        handlers = HandlerAnswers(names, reports, schedule, of: engine, sources, logBook, owner)
        inbox = InboxAnswers(names, journal, bridge.receipts)
        devices = DeviceAnswers(known: known, requests: executor.requests, loop: loop, owner: owner)
        accessories = AccessoryAnswers(devices: known)
        orders = OrderAnswers(
            owner: owner, names: names, devices: known, schedule: schedule, engine: engine, loop: loop)
        deadLetters = DeadLetterAnswers(names: names, journal: journal, loop: loop)
        events = EventStreams(engine.composer)
        day = DayStreams(of: engine, sources, on: machine)
        logs = LogAnswers(names: names, logBook: logBook)
        web = WebAnswers(entry: entry, names: names)
        self.watching = WatchingAnswers(watching: watching, names: names, devices: known)
        self.owner = owner
        turn.listeners.add(events)
        turn.listeners.observe(self)
    }

    /// Every address. The answers, their description in openapi.json and the server's routes come from this table.
    package static let endpoints: [Endpoint] = [
        Endpoint.metrics, Endpoint.state, Endpoint.handlers, Endpoint.schedule, Endpoint.inbox, Endpoint.devices,
        Endpoint.accessories, Endpoint.orders, Endpoint.deadLetters, Endpoint.streams, Endpoint.access,
        Endpoint.watching,
    ].flatMap { $0 }

    package static let routes = Routes(endpoints.map(\.route))

    /// Reads a request. A refusal explains what is wrong with it and which address, method or key is nearest.
    package static func read(_ request: ControlRequest) throws(ControlRefusal) -> Endpoint.PreparedAnswer {
        try endpoints[try routes.place(of: request)].answer(to: request)
    }

    /// The daemon ends.
    package func close() { watching.watching.close() }

    package func answer(_ request: ControlRequest) -> ControlResponse {
        do { return try Self.read(request)(self) } catch { return .refusal(error) }
    }
}

/// The areas share this observer, because a turn ends often.
extension API: TurnObserver {
    package func turnEnded() { events.turnEnded() }

    package func instancesChanged(ended: [HandlerID]) {
        for handler in ended { handlers.letGo(of: handler) }
        owner.daemon.instancesChanged(ended: ended)
    }
}
