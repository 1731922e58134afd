// The forms of answers that openapi.json names, each written as the code that answers writes it.
import WakeAgenda
import WakeControl
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
        case .status: WholeStatus.shape.schema
        case .handler: HandlerReport.shape.schema
        case .work: WorkReport.shape.schema
        case .device: DeviceStatus.shape.schema
        case .adapter: AdapterStatus.shape.schema
        case .warning: BridgeWarning.shape.schema
        case .why: .either([.object(Self.reasons), Self.reasonsOfInstances])
        case .pending: .object([.always("pending", .list(.named(.entry))), .perhaps("jobs", .list(.text))])
        case .entry: ListedEntry.shape.schema
        case .raised: .object([.always("done", .flag), .always("entry", .nullable(.named(.entry)))])
        case .conditions: Self.conditionStates
        case .accepted:
            .object([
                .always("id", .text), .always("ttl_s", .natural), .always("wakes_in_ms", .nullable(.natural)),
            ])
        case .devices: DeviceList.shape.schema
        case .doubt: DoubtStatus.shape.schema
        case .unwatched: UnwatchedStatus.shape.schema
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

    // MARK: What is scheduled

    private static let reasons: [Schema.Key] = [
        .always("why", .text), .always("work", .named(.work)), .always("status", .nullable(.text)),
        .always("missed", .list(.object([.always("time", .moment), .always("reason", .text)]))),
        .always("scheduled", .list(.named(.entry))), .always("gates", .list(PendingEntry.Wait.schema)),
    ]

    /// The reasons of a manifest that runs once for each of its devices.
    private static let reasonsOfInstances = Schema.object([
        .always("instances", .list(.object([.always("id", .text)] + reasons)))
    ])

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
