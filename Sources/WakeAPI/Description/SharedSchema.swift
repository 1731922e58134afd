// The forms of answers that openapi.json names, each written as the code that answers writes it.
import WakeModel

/// The schemas of `components.schemas`.
enum SharedSchema: String, Hashable, Sendable, CaseIterable {
    case done, count, error, gap
    case status, handler, work, device, adapter, warning
    case why, pending, entry, raised, conditions, accepted
    case devices, doubt, unwatched, value, written, session, forgotten
    case reloaded, deadLetters
    case tokens, newToken
    case event, logLine, dayLine

    var schema: Schema {
        switch self {
        case .done: .object([.always("done", .flag)])
        case .count: .object([.always("count", .natural)])
        case .error: Self.failure("error", [.always("code", .name)])
        case .gap: Self.failure("gap", [.always("cause", .text), .always("lines", .natural)])
        case .status: Self.state
        case .handler: Self.handlerState
        case .work: Self.workDone
        case .device: Self.deviceState
        case .adapter: Self.adapterState
        case .warning:
            .object([.always("code", .text), .always("what", .text), .always("why", .text), .always("advice", .text)])
        case .why: .either([.object(Self.reasons), Self.reasonsOfInstances])
        case .pending: .object([.always("pending", .list(.named(.entry))), .perhaps("jobs", .list(.text))])
        case .entry: Self.scheduled
        case .raised: .object([.always("done", .flag), .always("entry", .nullable(.named(.entry)))])
        case .conditions: Self.conditionStates
        case .accepted:
            .object([
                .always("id", .text), .always("ttl_s", .natural), .always("wakes_in_ms", .nullable(.natural)),
            ])
        case .devices:
            .object([
                .always("devices", .list(.named(.device))), .always("doubts", .list(.named(.doubt))),
                .always("unwatched", .list(.named(.unwatched))),
            ])
        case .doubt:
            .object([
                .always("node", .text), .always("candidates", .list(.text)), .always("why", .nullable(.text)),
            ])
        case .unwatched:
            .object([
                .always("alias", .text), .always("source", .text), .always("mode", .text), .always("connected", .flag),
                .always("why", .text),
            ])
        case .value: Self.readValue
        case .written: Self.answered([.always("done", .flag)])
        case .session:
            .object([
                .always("done", .flag), .always("device", .text),
                .always("session", .word(["open", "paused", "closed"])),
            ])
        case .forgotten:
            .object([.always("alias", .text), .always("source", .text), .perhaps("node", .nullable(.text))])
        case .reloaded:
            .object([
                .always("errors", .list(.text)), .always("warnings", .list(.text)), .always("applied", .list(.text)),
                .always("postponed", .list(.text)),
            ])
        case .deadLetters: Self.letters
        case .tokens: Self.tokenList
        case .newToken:
            .object([
                .always("token", .text), .always("name", .text), .always("role", .nullable(.text)),
                .perhaps("inbox", .text), .perhaps("urgent", .flag), .always("address", .nullable(.text)),
            ])
        case .event: .either([Self.eventLine, .named(.gap)])
        case .logLine: .either([Self.line, .named(.gap)])
        case .dayLine: .either([Self.eventLine, Self.greeting, Self.deed, .named(.gap)])
        }
    }

    private static func failure(_ name: String, _ keys: [Schema.Key]) -> Schema {
        let advice: [Schema.Key] = name == "error" ? [.always("advice", .text)] : []
        return .object([.always(name, .object(keys + [.always("message", .text)] + advice))])
    }

    // MARK: The status

    private static let state = Schema.object([
        .always("bridge", bridge), .always("handlers", .list(.named(.handler))),
        .always("devices", .list(.named(.device))), .always("unwatched", .list(.named(.unwatched))),
        .always("adapters", .nullable(.list(.named(.adapter)))),
    ])

    private static let stay: [Schema.Key] = [.always("longest_ms", .number), .always("over_50ms", .natural)]
    private static let bridge = Schema.object([
        .always("version", .text), .always("host", .nullable(.text)), .always("pid", .natural),
        .always("journal", .text), .always("uptime_s", .number),
        .always("suspend", .word(["strong", "weak"])), .always("journal_health", .text), .always("memory", .natural),
        .always("uncontained", .nullable(.text)),
        .always("loop", .object(stay + [.always("causes", .list(.object([.always("cause", .text)] + stay)))])),
        .always("warnings", .list(.named(.warning))),
    ])

    private static let states = [
        "stopped", "idle", "launching", "active", "expiring", "suspending", "suspended", "terminating", "held",
        "quarantined",
    ]

    private static let handlerState = Schema.object([
        .always("id", .text), .always("state", .word(states)), .always("why", .text),
        .always("pid", .nullable(.natural)), .always("epoch", .natural), .always("queued", .natural),
        .always("open", .natural), .always("strikes", .natural), .always("held_for_ms", .natural),
        .always("wakes", .natural), .always("events", .natural), .always("awake_ms", .natural),
        .always("work", .named(.work)), .always("status", .nullable(.text)), .always("last_exit", .nullable(.text)),
        .always("unbonded", .list(.text)),
        .always("scheduled", .object([.always("count", .natural), .always("next", .nullable(.moment))])),
        .always("messages", .natural),
        .always("flows", .list(.text)),
        .always(
            "transfers",
            .object([
                .always("open", .natural), .always("moving", .natural), .always("done", .natural),
                .always("total", .nullable(.natural)),
            ])),
    ])

    private static let workDone = Schema.object([
        .always("useful", .natural), .always("nothing", .natural), .always("failed", .natural),
        .always("unsaid", .natural), .always("judged_wakes", .natural), .always("useful_wakes", .natural),
        .always("awake_ratio", .number), .always("cpu_ms", .nullable(.number)),
        .always("cpu_per_event_ms", .nullable(.number)),
    ])

    private static let deviceState = Schema.object([
        .always("alias", .text), .always("source", .text), .always("mode", .text),
        .always("profile", .nullable(.text)), .always("bonded", .flag), .always("match", .nullable(match)),
        .always("report_descriptor", .nullable(.hexadecimal)), .always("node", .nullable(.text)),
        .always("adapter", .nullable(.text)), .always("link", .word(["connected", "disconnected", "unknown"])),
        .always("why", .nullable(.text)),
        .always("session", .nullable(.word(["open", "paused", "closed"]))),
        .always("last_data", .nullable(.moment)),
    ])

    private static let match = Schema.object([
        .always("services", .list(.text)), .always("name_prefix", .nullable(.text)),
        .always("properties", .list(.object([.always("name", .text), .always("value", .text)]))),
        .always("advertisement", .nullable(.hexadecimal)),
    ])

    private static let adapterState = Schema.object([
        .always("address", .text), .always("powered", .flag), .always("links", .natural),
        .always("most_links", .nullable(.natural)), .always("waiting", .list(.text)),
        .always("scanning", .flag),
    ])

    // MARK: What is scheduled

    private static let wait = Schema.object([
        .always("for", .text), .always("since", .nullable(.moment)), .perhaps("settles", .moment),
    ])

    private static let reasons: [Schema.Key] = [
        .always("why", .text), .always("work", .named(.work)), .always("status", .nullable(.text)),
        .always("missed", .list(.object([.always("time", .moment), .always("reason", .text)]))),
        .always("scheduled", .list(.named(.entry))), .always("gates", .list(wait)),
    ]

    /// The reasons of a manifest that runs once for each of its devices.
    private static let reasonsOfInstances = Schema.object([
        .always("instances", .list(.object([.always("id", .text)] + reasons)))
    ])

    private static let scheduled = Schema.object([
        .always("handler", .text),
        .always("source", .word(TriggerKind.all(.isPending).map(\.word))),
        .perhaps("id", .text), .always("state", .word(["waiting", "queued", "running"])), .perhaps("due", .moment),
        .perhaps("deadline", .moment), .always("waits_for", .list(.text)), .perhaps("next_chance", .moment),
        .perhaps("event", .natural), .perhaps("messages", .natural), .always("waits", .list(wait)),
        .perhaps("requires", .list(.text)),
        .perhaps("holder", .text), .perhaps("cpu_percent", .natural),
        .perhaps("done", .natural), .perhaps("total", .natural), .perhaps("interval_s", .natural),
        .perhaps("slot_s", .natural), .perhaps("bin", hourOfWeek), .always("history", .list(change)),
    ])

    private static let hourOfWeek = Schema.object([
        .always("hour", .text), .always("polls", .natural), .always("useful", .natural), .always("quiet", .flag),
    ])

    private static let change = Schema.object([.always("at", .moment), .always("what", .text)])

    private static let conditionStates = Schema.object([
        .always(
            "conditions",
            .list(
                .object([
                    .always("word", .text), .always("hard", .flag), .always("open", .flag),
                    .always("raw", .nullable(.flag)), .always("settled", .flag), .always("played", .nullable(.flag)),
                    .always("since", .nullable(.moment)),
                    .always(
                        "waits",
                        .list(
                            .object([.always("handler", .text), .always("source", .text), .perhaps("id", .text)]))),
                ])))
    ])

    // MARK: Devices

    private static func answered(_ keys: [Schema.Key]) -> Schema {
        let names: [Schema.Key] = [
            .always("device", .text), .perhaps("characteristic", .text), .perhaps("stream", .text),
        ]
        return .object(names + keys)
    }

    private static let readValue = answered([.always("hex", .hexadecimal), .always("value", .anything)])

    private static let letters = Schema.object([
        .always(
            "dead_letters",
            .list(
                .object([
                    .always("seq", .natural), .always("handler", .text), .always("device", .text),
                    .always("time", .moment), .always("reason", .text),
                ])))
    ])

    private static let tokenList = Schema.object([
        .always("address", .nullable(.text)),
        .always(
            "tokens",
            .list(
                .object([
                    .always("name", .text), .always("role", .nullable(.text)), .perhaps("inbox", .text),
                    .perhaps("urgent", .flag), .always("made", .moment),
                ]))),
    ])

    // MARK: Lines of streams

    private static let eventLine = Schema.object([
        .always("specversion", .text), .always("id", .text), .always("source", .text), .always("type", .text),
        .always("time", .moment), .always("datacontenttype", .text), .always("authenticated", .flag),
        .perhaps("seq", .natural), .perhaps("attempt", .natural), .perhaps("redelivered", .flag),
        .perhaps("budgetms", .natural), .always("data", .anything),
    ])

    private static let line = Schema.object([
        .always("time", .moment), .always("handler", .text), .always("stream", .word(["stdout", "stderr", "bridge"])),
        .always("text", .text),
    ])

    private static let greeting = Schema.object([
        .always("day", .object([.perhaps("zone", .text), .always("seed", .text)])), .always("time", .moment),
    ])

    private static let deed = Schema.object([.always("deed", .text), .always("time", .moment)])
}

extension Schema {
    static func named(_ shared: SharedSchema) -> Schema { .reference(shared.rawValue) }
}
