// The page's endpoints beyond the daemon's state: history, findings, pairing, replay; and the form of each answer.
import WakeControl
import WakeModel

extension Endpoint {
    private static func span(_ known: [HistorySpan]) -> Parameter {
        Parameter("span", "how far back, 15m if not given", .word(known.map(\.rawValue)))
    }

    static let watching: [Endpoint] = [histories, neighbourhood, traces].flatMap { $0 }

    private static let histories: [Endpoint] = [
        Endpoint(
            .get("/v1/devices/history", .read), "a device's values of the last time, and where there are none",
            parameters: [Parameter("device", "the device"), span(HistorySpan.allCases)], .json(history),
            reads: { asked throws(ControlRefusal) in
                (try asked.require("device"), try HistorySpan(asked, of: "history", among: HistorySpan.allCases))
            },
            answers: { api, _, question throws(ControlRefusal) in try api.watching.history(of: question.0, question.1) }
        ),
        Endpoint(
            .get("/v1/handlers/ID/timeline", .read), "when it was awake, frozen or held",
            parameters: [span(HistorySpan.ofTimelines)], .json(timeline),
            reads: { asked throws(ControlRefusal) in
                try HistorySpan(asked, of: "timeline", among: HistorySpan.ofTimelines)
            },
            answers: { api, asked, span throws(ControlRefusal) in try api.watching.timeline(of: asked.first, span) }),
        Endpoint(.get("/v1/findings", .read), "what wakebridge doctor finds", .json(findings)) { api, _ in
            api.watching.findings.answer()
        },
    ]

    private static let neighbourhood: [Endpoint] = [
        Endpoint(.get("/v1/neighbours", .pair), "Bluetooth devices nearby, as they advertise", .stream(neighbour)) {
            api, _ throws(ControlRefusal) in try api.watching.streams.neighbours()
        },
        Endpoint(
            .post("/v1/pairing", .pair), "pairs a device, with questions",
            body: [.always("device", .name), .perhaps("alias", .name)], .stream(pairing),
            reads: { asked throws(ControlRefusal) in
                PairingOrder(device: try asked.body.require("device"), alias: try asked.body.text("alias"))
            },
            answers: { api, _, order throws(ControlRefusal) in try api.watching.streams.pair(order) }),
        Endpoint(
            .post("/v1/pairing/answer", .pair), "answers what a pairing asks",
            body: [
                .always("pairing", .whole(from: 1, through: nil)), .perhaps("passkey", .name),
                .perhaps("agrees", .flag),
            ], reads: { asked throws(ControlRefusal) in try PairingAnswer(asked.body) },
            answers: { api, _, answer throws(ControlRefusal) in try api.watching.streams.answer(answer) }),
    ]

    private static let traces: [Endpoint] = [
        Endpoint(
            .get("/v1/recording", .operate), "a trace of what a device does from now on",
            parameters: [Parameter("device", "the device")], .textStream("text/plain"),
            reads: { asked throws(ControlRefusal) in try asked.require("device") },
            answers: { api, _, device throws(ControlRefusal) in try api.watching.record(device) }),
        Endpoint(
            .post("/v1/replay", .operate, bodyLimit: 1 << 20), "plays a trace to a process of its own of a handler",
            body: [.always("handler", .name), .always("trace", .name)], .stream(replayed),
            reads: { asked throws(ControlRefusal) in
                (try asked.body.require("handler"), try asked.body.require("trace"))
            },
            answers: { api, _, order throws(ControlRefusal) in try api.watching.replay(order.1, to: order.0) }),
    ]

    // MARK: Answers

    private static let history = Schema.object([
        .always("device", .text), .always("from", .number), .always("until", .number), .always("step_s", .natural),
        .always(
            "fields",
            .list(
                .object([
                    .always("name", .text), .always("unit", .nullable(.text)),
                    .always("points", .list(.list(.nullable(.number)))),
                ]))),
        .always(
            "gaps",
            .list(
                .object([
                    .always("from", .number), .always("until", .number), .always("cause", .text), .always("why", .text),
                ]))),
    ])

    private static let timeline = Schema.object([
        .always("handler", .text), .always("from", .number), .always("until", .number),
        .always(
            "spans",
            .list(
                .object([
                    .always("state", .word(["awake", "frozen", "none", "held"])), .always("from", .number),
                    .always("until", .number),
                ]))),
        .always(
            "ends", .list(.object([.always("time", .number), .always("what", .text), .always("why", .text)]))),
        .always("budget_ms", .natural), .always("awake_ms", .natural), .always("awake_ratio", .number),
    ])

    private static let findings = Schema.object([
        .always("checked", .number),
        .always(
            "findings",
            .list(
                .object([
                    .always("code", .text), .always("severity", .word(["error", "warning", "note"])),
                    .always("level", .word(["error", "warning", "hint"])),
                    .always("what", .text), .always("why", .nullable(.text)), .always("fix", .nullable(.text)),
                ]))),
    ])

    private static let neighbour = Schema.either([
        .object([
            .always(
                "neighbour",
                .object([
                    .always("address", .text), .always("name", .nullable(.text)), .always("rssi", .nullable(.number)),
                    .always("profile", .nullable(.text)), .always("alias", .nullable(.text)), .always("bonded", .flag),
                    .always("connected", .flag),
                ]))
        ]),
        .object([.always("note", .text)]), .named(.error), .named(.gap),
    ])

    private static let pairing = Schema.either([
        .object([.always("pairing", .natural)]), .object([.always("step", .text)]),
        .object([.always("ask", .word(["passkey", "consent"]))]), .object([.always("show", .text)]),
        .object([.always("compare", .text)]),
        .object([.always("paired", .object([.always("alias", .text), .perhaps("address", .text)]))]), .named(.error),
        .named(.gap),
    ])

    private static let replayed = Schema.either([
        .object([.always("text", .text)]), .object([.always("note", .text)]), .named(.error), .named(.gap),
    ])
}
