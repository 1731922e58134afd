// The part of a handler that outlives its processes: its name in logs, the limit of its fault reports, and the
// descriptors still being closed.
import WakeCore
import WakeModel
import WakeSystem

final class HandlerRecord {
    let id: HandlerID
    /// Descriptors that an earlier process sent may still be closing when the next one starts.
    let closings = ForeignClosings()
    let log = Log("handlers")
    private let catalog: Catalog
    private let handlerLog: (any HandlerLog)?
    private var faultLimit: RateLimiter?
    /// The sockets of its latest process while it was frozen.
    private(set) var heldSockets: [ReachableSocket] = []
    var socketSchedule = SocketInspector.Schedule()

    init(_ id: HandlerID, catalog: Catalog, handlerLog: (any HandlerLog)?) {
        self.id = id
        self.catalog = catalog
        self.handlerLog = handlerLog
    }

    var name: String { catalog.name(of: id) }

    func logged(_ line: String, to stream: HandlerProcess.Stream) {
        handlerLog?.handler(id, logged: line, as: .handler(stream))
    }

    /// In the daemon's log and in the handler's own.
    func report(_ sentence: String) {
        log.warning("handler \(name) \(sentence)")
        handlerLog?.handler(id, logged: sentence, as: .bridge)
    }

    var sleepersListen: SleepersListen { catalog.handlers[id]?.sleepersListen ?? .allow }

    /// A new process is asked again.
    func forgetSockets() { (heldSockets, socketSchedule) = ([], SocketInspector.Schedule()) }

    func report(_ sockets: [ReachableSocket]) {
        heldSockets = sockets
        report("holds \(sockets.phrase) while it is frozen: \(sockets.consequence); \(ReachableSocket.advice)")
    }

    func reportLaunchFailure(_ reason: String) {
        log.error("cannot start handler \(name): \(reason)")
        handlerLog?.handler(id, logged: "cannot be started: \(reason)", as: .bridge)
    }

    /// Limits the answers to invalid lines: false where the limit is reached.
    func report(_ fault: ProtocolFault, at now: Instant) -> Bool {
        var limit = faultLimit ?? RateLimiter(perSecond: 20, burst: 100, now: now)
        defer { faultLimit = limit }
        guard limit.consume(now: now) else { return false }
        log.warning("handler \(name): \(fault.description)")
        handlerLog?.handler(id, logged: fault.description, as: .bridge)
        return true
    }
}
