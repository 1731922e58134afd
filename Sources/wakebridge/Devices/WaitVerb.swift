// wakebridge wait: returns when a device is connected, is not, or has sent something, for scripts.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var wait: Verb {
        Verb(
            name: "wait", summary: "wait until a device is connected, disconnected, or has sent data",
            synopsis: ["[--json] DEVICE --connected|--disconnected|--data [--for 30s]"],
            detail: """
                Ends with 0 as soon as it is so, at once if it is so already; data counts from now on. Ends with 1 after the
                time of --for, and waits without it for as long as it takes.
                """,
            examples: ["wakebridge wait chest-strap --data --for 30s"],
            flags: [
                Flag("connected", "until it is connected"), Flag("disconnected", "until it is not connected"),
                Flag("data", "until it sends data"),
                Flag("for", short: "w", value: "TIME", "at most for so long: 30s, 5m"),
                Flag("json", short: "j", "print one JSON document"),
            ] + daemonFlags, operands: [.device]
        ) { words throws(Complaint) in try Wait(words).run() }
    }
}

private enum Awaited: String, CaseIterable {
    case connected, disconnected, data

    init(_ words: ParsedArguments) throws(Complaint) {
        let said = Self.allCases.filter { words.has($0.rawValue) }
        guard let only = said.first, said.count == 1 else {
            throw .usage("say one of --connected, --disconnected, --data")
        }
        self = only
    }

    /// Whether it is so already.
    func holds(for device: ToldDevice) -> Bool {
        switch self {
        case .connected: device.isConnected
        case .disconnected: !device.isConnected
        case .data: false
        }
    }

    func absence(within limit: TimeSpan) -> String {
        switch self {
        case .connected: "was not connected within \(limit.spoken)"
        case .disconnected: "was still connected after \(limit.spoken)"
        case .data: "sent no data within \(limit.spoken)"
        }
    }

    var sentence: String {
        switch self {
        case .connected: "is connected"
        case .disconnected: "is disconnected"
        case .data: "has sent data"
        }
    }
}

private final class Wait {
    private let words: ParsedArguments
    private let awaited: Awaited
    private let limit: TimeSpan?
    private let begun = SystemClock.boottime()
    private var isMet = false
    private var failure: Complaint?

    init(_ words: ParsedArguments) throws(Complaint) {
        self.words = words
        awaited = try Awaited(words)
        limit = try words.time("for")
    }

    func run() throws(Complaint) -> Int32 {
        let word = try words.only("DEVICE")
        let client = words.client
        let device = try client.device(named: word)
        // Asked once more when the stream is open, so that a change in between is not missed.
        let ending = try client.follow(
            .get, "/v1/events?device=\(device.source.percentEncoded)", pace: pace,
            opened: { [self] in look(at: device.source, client) }, hear)
        if let failure { throw failure }
        let alias = device.alias.printable
        if isMet { return report(alias) }
        switch ending {
        case .closed: throw .failure("the daemon ended while '\(alias)' was waited for; start it and wait again")
        case .interrupted: throw .failure("interrupted before '\(alias)' \(awaited.sentence); wait again")
        case .enough:
            let absence = awaited.absence(within: limit ?? .zero)
            throw .failure("'\(alias)' \(absence); see how it is with: wakebridge devices \(alias.asShellWord)")
        }
    }

    private func look(at source: String, _ client: ControlClient) {
        do throws(Complaint) { if awaited.holds(for: try client.device(named: source)) { isMet = true } } catch {
            failure = error
        }
    }

    private func hear(_ line: ArraySlice<UInt8>) {
        let type = (try? JSONValue(parsing: line))?.text("type") ?? ""
        if type.split(separator: ".").last.map(String.init) == awaited.rawValue { isMet = true }
    }

    /// Nil once it is so, or the time is over.
    private func pace() -> TimeSpan? {
        guard !isMet, failure == nil else { return nil }
        guard let limit else { return .seconds(60) }
        let left = begun + limit - SystemClock.boottime()
        return left > .zero ? left + .milliseconds(1) : nil
    }

    private func report(_ alias: String) -> Int32 {
        let waited = SystemClock.boottime() - begun
        if words.has("json") {
            Console.print(
                JSONWriter.line { writer in
                    writer.field("device", alias)
                    writer.field("is", awaited.rawValue)
                    writer.field("waited_ms", waited.wholeMilliseconds)
                })
        } else {
            Console.print("\(alias) \(awaited.sentence)\n")
        }
        return 0
    }
}
