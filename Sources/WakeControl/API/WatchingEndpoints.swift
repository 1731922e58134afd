// The addresses of what the page watches and does beyond the daemon's state: history, findings, pairing, replay.
import WakeModel

extension Endpoint {
    static let watching: [Endpoint] = [histories, neighbourhood, traces].flatMap { $0 }

    private static func span(_ known: [HistorySpan]) -> Parameter {
        Parameter("span", "how far back, 15m if not given", .word(known.map(\.rawValue)))
    }

    private static let histories: [Endpoint] = [
        Endpoint(
            "GET", "/v1/devices/history", .read, "a device's values of the last time, and where there are none",
            parameters: [Parameter("device", "the device"), span(HistorySpan.allCases)], answer: .json(history)
        ) { asked throws(ControlRefusal) in
            .watching(
                .history(
                    device: try asked.require("device"),
                    try HistorySpan(asked, of: "history", among: HistorySpan.allCases)))
        },
        Endpoint(
            "GET", "/v1/handlers/ID/timeline", .read, "when it was awake, frozen or held",
            parameters: [span(HistorySpan.ofTimelines)], answer: .json(timeline)
        ) { asked throws(ControlRefusal) in
            .watching(
                .timeline(
                    handler: asked.first, try HistorySpan(asked, of: "timeline", among: HistorySpan.ofTimelines)))
        },
        Endpoint("GET", "/v1/findings", .read, "what wakebridge doctor finds", answer: .json(findings)) { _ in
            .watching(.findings)
        },
    ]

    private static let neighbourhood: [Endpoint] = [
        Endpoint(
            "GET", "/v1/neighbours", .pair, "Bluetooth devices nearby, as they advertise", answer: .stream(neighbour)
        ) { _ in .watching(.neighbours) },
        Endpoint(
            "POST", "/v1/pairing", .pair, "pairs a device, with questions",
            body: [.always("device", .name), .perhaps("alias", .name)], answer: .stream(pairing)
        ) { asked throws(ControlRefusal) in
            .watching(
                .pair(PairingOrder(device: try asked.body.require("device"), alias: try asked.body.text("alias"))))
        },
        Endpoint(
            "POST", "/v1/pairing/answer", .pair, "answers what a pairing asks",
            body: [
                .always("pairing", .whole(from: 1, through: nil)), .perhaps("passkey", .name),
                .perhaps("agrees", .flag),
            ]
        ) { asked throws(ControlRefusal) in .watching(.answerPairing(try PairingAnswer(asked.body))) },
    ]

    private static let traces: [Endpoint] = [
        Endpoint(
            "GET", "/v1/recording", .operate, "a trace of what a device does from now on",
            parameters: [Parameter("device", "the device")], answer: .textStream("text/plain")
        ) { asked throws(ControlRefusal) in .watching(.record(device: try asked.require("device"))) },
        Endpoint(
            "POST", "/v1/replay", .operate, "plays a trace to a process of its own of a handler",
            body: [.always("handler", .name), .always("trace", .name)], bodyLimit: 1 << 20, answer: .stream(replayed)
        ) { asked throws(ControlRefusal) in
            .watching(.replay(handler: try asked.body.require("handler"), trace: try asked.body.require("trace")))
        },
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

extension Asked {
    fileprivate func require(_ parameter: String) throws(ControlRefusal) -> String {
        if let name = named(parameter) { return name }
        let path = "/" + request.path.joined(separator: "/")
        throw .badRequest(
            "missing-parameter", "\(path) needs the parameter '\(parameter)'", "ask for \(path)?\(parameter)=NAME")
    }
}

extension HistorySpan {
    fileprivate init(_ asked: Asked, of kind: String, among known: [HistorySpan]) throws(ControlRefusal) {
        guard let text = asked.named("span") else {
            self = .quarterHour
            return
        }
        guard let span = known.first(where: { $0.rawValue == text }) else {
            let words = known.map(\.rawValue).joined(separator: " or ")
            throw .badRequest("bad-value", "span=\(text) is no span of a \(kind)", "use \(words)")
        }
        self = span
    }
}

extension PairingAnswer {
    fileprivate init(_ body: RequestBody) throws(ControlRefusal) {
        let pairing = try body.whole("pairing")
        switch (try body.text("passkey"), try body.flag("agrees")) {
        case (let passkey?, nil): self.init(pairing: pairing, .passkey(passkey))
        case (nil, let agrees?): self.init(pairing: pairing, .agrees(agrees))
        case (_, _):
            throw .badRequest(
                "bad-choice", "it is not clear what is answered", "give exactly one of passkey, agrees")
        }
    }
}

extension RequestBody {
    fileprivate func whole(_ key: String) throws(ControlRefusal) -> Int64 {
        if let number = try sequence(key) { return Int64(clamping: number.rawValue) }
        throw .badRequest("missing-key", "an answer needs the key '\(key)'", "add \"\(key)\": 1 to the body")
    }
}
