// Parts of the daemon that follow the core's decisions: log book, history, metrics, status line, changed programs.
import WakeAPI
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class HandlerObservers {
    let logBook: HandlerLogBook
    let history: WakeHistory
    let metrics: MetricsBook
    /// Nil where no broker is configured.
    var broker: BrokerSink?
    /// The warnings about that broker, and about the brokers of other bridges.
    let brokers = BrokerWarnings()
    let statusLine: StatusLine
    let alerts: AlertPrograms
    let programs: ProgramWatch

    init(
        _ logBook: HandlerLogBook, of bridge: Bridge, clock: any WakeClock, _ settings: BridgeSettings
    ) throws(SystemError) {
        self.logBook = logBook
        alerts = AlertPrograms(settings.alerts, of: bridge)
        history = WakeHistory(clock: clock)
        metrics = MetricsBook(clock: clock)
        statusLine = try StatusLine(catalog: bridge.catalog, journal: bridge.journal, loop: bridge.loop)
        programs = ProgramWatch(catalog: bridge.catalog, loop: bridge.loop, users: HandlerUsers(of: bridge))
    }

    /// Takes the settings that need no restart.
    func adopt(_ settings: BridgeSettings, after former: BridgeSettings) {
        logBook.adopt(settings.log)
        if let mqtt = settings.mqtt { broker?.adopt(mqtt) }
        // The user database is asked for the user of alerts, so only where something changed.
        if settings.alerts != former.alerts { alerts.adopt(settings.alerts) }
    }

    /// From now on they see every decision; the status line sees links too.
    func listen(to turn: Turn) {
        turn.listeners.add(history)
        turn.listeners.add(logBook)
        metrics.listen(to: turn)
        turn.listeners.add(programs)
        turn.listeners.add(statusLine as any DecisionListener)
        turn.listeners.add(statusLine as any EventSink)
        turn.listeners.add(statusLine as any NoticeListener)
    }
}
