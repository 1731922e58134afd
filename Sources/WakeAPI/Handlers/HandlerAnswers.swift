// Answers about handlers: their reports, why each is or is not awake, and an operator's orders to them.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension Endpoint {
    static let handlers: [Endpoint] = [
        Endpoint(
            .get("/v1/handlers", .read), "all handlers",
            .json(
                .object([.always("handlers", .list(.named(.handler))), .always("warnings", .list(.named(.warning)))]))
        ) { api, _ in api.handlers.all() },
        Endpoint(.get("/v1/handlers/ID", .read), "one handler", .json(.named(.handler))) {
            api, asked throws(ControlRefusal) in try api.handlers.one(asked.first)
        },
        Endpoint(.get("/v1/handlers/ID/why", .read), "why it is or is not awake", .json(.named(.why))) {
            api, asked throws(ControlRefusal) in try api.handlers.why(asked.first)
        },
        Endpoint(.post("/v1/handlers/ID/start", .operate), "lifts a stop, a quarantine and a penalty") {
            api, asked throws(ControlRefusal) in try api.handlers.start(asked.first)
        },
        Endpoint(
            .post("/v1/handlers/ID/stop", .operate), "stops it until start", body: [.perhaps("keep_sessions", .flag)],
            reads: { asked throws(ControlRefusal) in try asked.body.flag("keep_sessions") ?? false },
            answers: { api, asked, keepsSessions throws(ControlRefusal) in
                try api.handlers.stop(asked.first, keepsSessions: keepsSessions)
            }),
        Endpoint(.post("/v1/handlers/ID/restart", .operate), "ends its process in order and starts the next") {
            api, asked throws(ControlRefusal) in try api.handlers.restart(asked.first)
        },
        Endpoint(
            .post("/v1/handlers/ID/attach", .operate), "its log as it comes, and keeps it awake",
            .stream(.named(.logLine))
        ) { api, asked throws(ControlRefusal) in try api.handlers.attach(asked.first) },
    ]
}

package final class HandlerAnswers {
    private let names: HandlerNames
    private let reports: HandlerReports
    private let schedule: ScheduleAnswers
    private let engine: Engine
    private let sources: LiveSources
    private let logBook: HandlerLogBook
    private let owner: Owner
    /// Several terminals may hold one handler; the last one releases it.
    private var leases: [(handler: HandlerID, stream: ControlStream)] = []
    private var catalog: Catalog { names.catalog }
    private var turn: Turn { names.turn }

    init(
        _ names: HandlerNames, _ reports: HandlerReports, _ schedule: ScheduleAnswers, of engine: Engine,
        _ sources: LiveSources, _ logBook: HandlerLogBook, _ owner: Owner
    ) {
        (self.names, self.reports, self.schedule) = (names, reports, schedule)
        (self.engine, self.sources, self.logBook, self.owner) = (engine, sources, logBook, owner)
    }

    func all() -> ControlResponse {
        .object { writer in
            writer.field("handlers", shaped: reports.all())
            writer.field("warnings", shaped: owner.warnings.filter { $0.handler != nil })
        }
    }

    func one(_ name: String) throws(ControlRefusal) -> ControlResponse {
        .json(reports.report(try names.handlerStatus(name)))
    }

    /// Explains one handler, or each instance of a manifest.
    func why(_ name: String) throws(ControlRefusal) -> ControlResponse {
        guard catalog.handler(named: name) == nil, let instances = catalog.instances(of: name) else {
            if let refusal = names.refusal(ofAbsent: name) {
                return .object { Self.writeReasons(of: refusal, into: &$0) }
            }
            let standing = try names.handlerStatus(name)
            return .object { writeReasons(of: standing, into: &$0) }
        }
        if instances.isEmpty { throw names.noInstance(of: name) }
        let standings = instances.compactMap { turn.handlerStatus(of: $0) }
        return .object { writer in
            writer.objects("instances", standings) { writer, standing in
                writer.field("id", catalog.name(of: standing.handler))
                writeReasons(of: standing, into: &writer)
            }
        }
    }

    private func writeReasons(of standing: HandlerStatus, into writer: inout JSONWriter) {
        writer.field("why", reports.reasons.why(standing))
        writer.field("work", shaped: reports.work(standing))
        writer.field("status", names.executor.status(of: standing.handler))
        writer.objects("missed", reports.history.latest(standing.handler)) { writer, entry in
            writer.key("time")
            writer.time(entry.time)
            writer.field("reason", entry.sentence)
        }
        schedule.writeSchedule(of: standing.handler, into: &writer)
    }

    /// The reasons of a handler that was never there, in the form of those of others.
    private static func writeReasons(of refusal: BridgeWarning, into writer: inout JSONWriter) {
        writer.field("why", "not there: \(refusal.what); \(refusal.advice)")
        writer.field("work", shaped: WorkReport())
        writer.field("status", nil as String?)
        for name in ["missed", "scheduled", "gates"] as [StaticString] { writer.field(name, [] as [String]) }
    }

    // MARK: Orders

    private func operate(_ handler: HandlerID, _ verb: OperatorVerb) { turn.ingest(.operated(handler, verb)) }

    /// The connection is the lease: however its holder ends, the handler is released.
    func attach(_ name: String) throws(ControlRefusal) -> ControlResponse {
        let handler = try names.runnable(name)
        return .stream(contentType: "application/x-ndjson") { [self] stream in
            leases.append((handler, stream))
            turn.ingest(.operated(handler, .attach))
            logBook.follow([handler], stream)
            stream.onClose = { [self] stream in
                logBook.forget(stream)
                leases.removeAll { $0.stream === stream }
                if !leases.contains(where: { $0.handler == handler }) {
                    turn.ingest(.operated(handler, .detach))
                }
            }
        }
    }

    func start(_ name: String) throws(ControlRefusal) -> ControlResponse {
        let handlers = try names.those(meantBy: name, mayBeNone: true, names.startable)
        if catalog.perDevice[name] != nil { engine.setStopped(false, name) }
        for handler in handlers {
            operate(handler, .start)
            sources.handlerDidStart(handler)
        }
        return .done
    }

    func stop(_ name: String, keepsSessions: Bool) throws(ControlRefusal) -> ControlResponse {
        let handlers = try names.those(meantBy: name, mayBeNone: true, names.handler)
        if catalog.perDevice[name] != nil { engine.setStopped(true, name) }
        for handler in handlers {
            letGo(of: handler)
            operate(handler, .stop)
            if !keepsSessions { sources.handlerDidStop(handler) }
        }
        return .done
    }

    func restart(_ name: String) throws(ControlRefusal) -> ControlResponse {
        for handler in try names.those(meantBy: name, names.runnable) {
            letGo(of: handler)
            operate(handler, .restart)
        }
        return .done
    }

    /// Detaches every client from a handler that must not run any more.
    package func letGo(of handler: HandlerID) {
        let held = leases.filter { $0.handler == handler }
        guard !held.isEmpty else { return }
        leases.removeAll { $0.handler == handler }
        for lease in held {
            logBook.forget(lease.stream)
            lease.stream.close()
        }
        turn.ingest(.operated(handler, .detach))
    }
}
