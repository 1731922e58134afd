// Parts of the daemon that follow the core's decisions: log book, history, metrics, status line, changed programs.
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
    /// Long messages of that broker and of the brokers of other bridges.
    let longMessages = LongMessages()
    let statusLine: StatusLine
    let programs: ProgramWatch

    init(_ logBook: HandlerLogBook, of bridge: Bridge, clock: any WakeClock) throws(SystemError) {
        self.logBook = logBook
        history = WakeHistory(clock: clock)
        metrics = MetricsBook(clock: clock)
        statusLine = try StatusLine(catalog: bridge.catalog, journal: bridge.journal, loop: bridge.loop)
        programs = ProgramWatch(catalog: bridge.catalog, loop: bridge.loop, users: HandlerUsers(of: bridge))
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
