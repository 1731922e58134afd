// Every address of the API. The answers of the daemon and their description in openapi.json come from this table.
import WakeModel

extension Endpoint {
    static let all: [Endpoint] = [
        state, handlers, schedule, inbox, devices, orders, deadLetters, streams, access, watching,
    ].flatMap { $0 }

    private static let state: [Endpoint] = [
        Endpoint("GET", "/metrics", .read, "metrics for Prometheus", answer: .text("application/openmetrics-text")) {
            .metrics(accept: $0.request.accept)
        },
        Endpoint("GET", "/v1/status", .read, "bridge, handlers, devices and adapters", answer: .json(.named(.status))) {
            _ in .status
        },
        Endpoint(
            "GET", "/v1/conditions", .read, "how conditions stand, and what waits for them",
            answer: .json(.named(.conditions))
        ) { _ in .conditions },
        Endpoint(
            "POST", "/v1/conditions/WORD", .operate, "plays a condition",
            body: [.always("value", .word(ConditionPlay.Value.allCases.map(\.rawValue)))]
        ) { asked throws(ControlRefusal) in
            .play(ConditionPlay(word: asked.first, value: try asked.body.played()))
        },
    ]

    private static let handlers: [Endpoint] = [
        Endpoint(
            "GET", "/v1/handlers", .read, "all handlers",
            answer: .json(
                .object([.always("handlers", .list(.named(.handler))), .always("warnings", .list(.named(.warning)))]))
        ) { _ in .handlers },
        Endpoint("GET", "/v1/handlers/ID", .read, "one handler", answer: .json(.named(.handler))) {
            .handler($0.first)
        },
        Endpoint(
            "GET", "/v1/handlers/ID/why", .read, "why it is or is not awake", answer: .json(.named(.why))
        ) { .why(handler: $0.first) },
        Endpoint("POST", "/v1/handlers/ID/start", .operate, "lifts a stop, a quarantine and a penalty") {
            .start(handler: $0.first)
        },
        Endpoint(
            "POST", "/v1/handlers/ID/stop", .operate, "stops it until start", body: [.perhaps("keep_sessions", .flag)]
        ) { asked throws(ControlRefusal) in
            .stop(handler: asked.first, keepsSessions: try asked.body.flag("keep_sessions") ?? false)
        },
        Endpoint("POST", "/v1/handlers/ID/restart", .operate, "ends its process in order and starts the next") {
            .restart(handler: $0.first)
        },
        Endpoint(
            "POST", "/v1/handlers/ID/attach", .operate, "its log as it comes, and keeps it awake",
            answer: .stream(.named(.logLine))
        ) { .attach(handler: $0.first) },
    ]

    private static let schedule: [Endpoint] = [
        Endpoint("GET", "/v1/pending", .read, "what is scheduled", answer: .json(.named(.pending))) { _ in
            .pending(handler: nil)
        },
        Endpoint(
            "GET", "/v1/handlers/ID/pending", .read, "what is scheduled of one handler",
            answer: .json(.named(.pending))
        ) { .pending(handler: $0.first) },
        Endpoint(
            "POST", "/v1/handlers/ID/jobs/JOB/run", .operate, "starts a job now", answer: .json(.named(.raised))
        ) { .raise(.job($0.second), handler: $0.first) },
        Endpoint(
            "POST", "/v1/handlers/ID/jobs/JOB/cancel", .operate, "takes a job back", answer: .json(.named(.raised))
        ) { .cancelJob($0.second, handler: $0.first) },
        Endpoint(
            "POST", "/v1/handlers/ID/transfers/TRANSFER/cancel", .operate, "cancels a transfer",
            answer: .json(.named(.raised))
        ) { .cancelTransfer($0.second, handler: $0.first) },
        Endpoint(
            "POST", "/v1/handlers/ID/alarms/ALARM/fire", .operate, "fires an alarm now", answer: .json(.named(.raised))
        ) { .raise(.alarm($0.second), handler: $0.first) },
        Endpoint(
            "POST", "/v1/handlers/ID/poll/run", .operate, "makes the poll due now", answer: .json(.named(.raised))
        ) { .raise(.poll, handler: $0.first) },
    ]

    /// The only one that a token for an inbox opens by a header.
    static let inboxAddress = "/v1/handlers/ID/inbox"

    private static let inbox: [Endpoint] = [
        Endpoint(
            "POST", inboxAddress, .operate, "sends a message", bodyLimit: InboxMessage.payloadLimit,
            takesBytes: true, status: 201, answer: .json(.named(.accepted))
        ) { asked throws(ControlRefusal) in
            .send(try InboxMessage(asked.request), handler: asked.first, token: asked.request.token)
        },
        Endpoint(
            "POST", "/v1/\(WebDoor.hooks)/TOKEN", nil, "sends a message, by a token for an inbox, over TCP",
            bodyLimit: InboxMessage.payloadLimit, takesBytes: true, status: 201, answer: .json(.named(.accepted))
        ) { asked throws(ControlRefusal) in
            guard let handler = asked.request.access?.inbox else { throw .noHook }
            return .send(try InboxMessage(asked.request), handler: handler, token: asked.request.token)
        },
    ]

    private static let channel: [Schema.Key] = [
        .always("device", .name), .perhaps("characteristic", .name), .perhaps("stream", .name),
    ]

    private static let devices: [Endpoint] = [
        Endpoint(
            "GET", "/v1/devices", .read, "all devices, or one",
            parameters: [Parameter("device", "the one device")], answer: .json(.named(.devices))
        ) { .devices(named: $0.named("device")) },
        Endpoint(
            "POST", "/v1/devices/read", .operate, "reads a value", body: channel, answer: .json(.named(.value))
        ) { asked throws(ControlRefusal) in
            .request(try asked.body.request { json throws(ProtocolFault) in try DeviceRequest.read(from: json) })
        },
        Endpoint(
            "POST", "/v1/devices/write", .operate, "writes a value", body: channel + [.always("hex", .hexadecimal)],
            answer: .json(.named(.written))
        ) { asked throws(ControlRefusal) in
            .request(try asked.body.request { json throws(ProtocolFault) in try DeviceRequest.write(from: json) })
        },
        Endpoint(
            "POST", "/v1/devices/session", .operate, "opens, pauses or closes a session",
            body: [
                .always("device", .name), .always("session", .word(["open", "paused", "closed", "pause", "close"])),
            ],
            answer: .json(.named(.session))
        ) { asked throws(ControlRefusal) in
            .setSession(device: try asked.body.require("device"), try asked.body.session())
        },
        Endpoint(
            "POST", "/v1/devices/name", .pair, "names an accessory, or a device that broadcasts",
            body: [.always("device", .name), .perhaps("name", .name), .perhaps("as", .name)],
            answer: .json(.named(.device))
        ) { asked throws(ControlRefusal) in .nameAccessory(try AccessoryOrder(asked.body)) },
        Endpoint(
            "POST", "/v1/devices/forget", .pair, "forgets an accessory, or a device that broadcasts",
            body: [.always("device", .name)], answer: .json(.named(.forgotten))
        ) { asked throws(ControlRefusal) in .forgetAccessory(device: try asked.body.require("device")) },
    ]

    private static let orders: [Endpoint] = [
        Endpoint(
            "POST", "/v1/reload", .operate, "reads profiles, manifests and settings", answer: .json(.named(.reloaded))
        ) { _ in .reload },
        Endpoint(
            "POST", "/v1/simulate", .operate, "makes something happen",
            body: [
                .always("what", .word(Simulation.names)), .perhaps("handler", .name), .perhaps("device", .name),
                .perhaps("level", .word(Simulation.MemoryLevel.allCases.map(\.rawValue))),
                .perhaps("state", .word(["on", "off"])),
            ]
        ) { asked throws(ControlRefusal) in .simulate(try Simulation(asked.body)) },
    ]

    private static let choice: [Schema.Key] = [
        .perhaps("seq", .whole(from: 1, through: nil)), .perhaps("handler", .name), .perhaps("all", .flag),
    ]

    private static let deadLetters: [Endpoint] = [
        Endpoint(
            "GET", "/v1/dead-letters", .read, "events that were given up", answer: .json(.named(.deadLetters))
        ) { _ in .deadLetters },
        Endpoint(
            "POST", "/v1/dead-letters/replay", .operate, "queues dead letters again", body: choice,
            answer: .json(.named(.count))
        ) { asked throws(ControlRefusal) in .replayDeadLetters(try DeadLetterChoice(asked.body)) },
        Endpoint(
            "POST", "/v1/dead-letters/drop", .operate, "forgets dead letters for good", body: choice,
            answer: .json(.named(.count))
        ) { asked throws(ControlRefusal) in .dropDeadLetters(try DeadLetterChoice(asked.body)) },
    ]

    private static let streams: [Endpoint] = [
        Endpoint(
            "GET", "/v1/events", .read, "events as they come", parameters: [Parameter("device", "the one device")],
            answer: .stream(.named(.event))
        ) { .events(device: $0.named("device")) },
        Endpoint(
            "GET", "/v1/day", .read, "all that a trace can hold, as it comes", answer: .stream(.named(.dayLine))
        ) { _ in .day },
        Endpoint(
            "GET", "/v1/logs", .read, "the latest log lines",
            parameters: [
                Parameter("handler", "the one handler"),
                Parameter("follow", "whether new lines follow", .word(["true", "false", "1", "0", ""])),
                Parameter("lines", "how many of the latest lines", .whole(from: 0, through: LogQuestion.mostLines)),
            ], answer: .stream(.named(.logLine))
        ) { asked throws(ControlRefusal) in .logs(try LogQuestion(asked.request)) },
    ]

    private static let role = Schema.word(AccessRole.allCases.map(\.rawValue))
    private static let newToken: [Schema.Key] = [
        .always("name", .name), .perhaps("role", role), .perhaps("inbox", .name), .perhaps("urgent", .flag),
    ]

    private static let access: [Endpoint] = [
        Endpoint(
            "GET", "/v1/me", nil, "what you may do, and the version",
            answer: .json(
                .object([.always("role", .nullable(role)), .always("version", .text), .always("docs", .text)]))
        ) { .me($0.request.access?.role) },
        Endpoint(
            "POST", "/v1/login", nil, "gives a browser a cookie for its token", body: [.always("token", .name)],
            bodyLimit: 4 << 10, answer: .json(.object([.always("role", role)]))
        ) { asked throws(ControlRefusal) in
            .login(
                LoginAttempt(
                    token: try asked.body.require("token"), address: asked.request.address,
                    origin: asked.request.headers.first { $0.name == "origin" }?.value))
        },
        Endpoint("POST", "/v1/logout", nil, "takes the cookie back", bodyLimit: 4 << 10) { _ in .logout },
        Endpoint("GET", "/v1/openapi.json", nil, "this API, as OpenAPI 3.1", answer: .json(.anything)) { _ in
            .description
        },
        Endpoint(
            "GET", "/v1/tokens", .pair, "where the bridge listens, and who has tokens", answer: .json(.named(.tokens)),
            isLocal: true
        ) { _ in .tokens },
        Endpoint(
            "POST", "/v1/tokens", .pair, "makes a token, and shows it once", body: newToken,
            answer: .json(.named(.newToken)), isLocal: true
        ) { asked throws(ControlRefusal) in
            .makeToken(TokenHolder(name: try asked.body.require("name"), try asked.body.access()))
        },
        Endpoint(
            "POST", "/v1/tokens/revoke", .pair, "revokes a token, and ends its streams", body: [.always("name", .name)],
            isLocal: true
        ) { asked throws(ControlRefusal) in .revokeToken(try asked.body.require("name")) },
    ]
}
