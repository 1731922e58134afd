// The `timers` object of manifests and of wakebridge.json5: which key sets which timer, and its range.
import WakeCore
import WakeModel
import WakeProfiles

public enum TimerKeys {
    public struct Entry: Sendable {
        public let key: String
        let timer: WritableKeyPath<HandlerTimers, TimeSpan> & Sendable
        public let range: ClosedRange<TimeSpan>
    }

    private static let day = TimeSpan.seconds(86_400)
    private static let tick = TimeSpan.milliseconds(1)

    /// The closed key list, in the order of ``HandlerTimers``.
    public static let all: [Entry] = [
        Entry(key: "launch", timer: \.launch, range: .milliseconds(100)...day),
        Entry(key: "budget", timer: \.budget, range: .milliseconds(100)...day),
        Entry(key: "warn", timer: \.warn, range: .zero...day),
        Entry(key: "grace", timer: \.grace, range: .zero...day),
        Entry(key: "max_extension", timer: \.maxExtension, range: .zero...(.seconds(180))),
        Entry(key: "extension_refill", timer: \.extensionRefill, range: tick...day),
        Entry(key: "window", timer: \.window, range: .zero...day),
        Entry(key: "rest", timer: \.rest, range: .zero...day),
        Entry(key: "linger", timer: \.linger, range: .zero...(.seconds(3_600))),
        Entry(key: "freeze", timer: \.freeze, range: .milliseconds(10)...(.seconds(60))),
        Entry(key: "terminate", timer: \.terminate, range: .zero...(.seconds(600))),
        Entry(key: "rescue", timer: \.rescue, range: .milliseconds(10)...(.seconds(60))),
        Entry(key: "flood", timer: \.flood, range: .milliseconds(100)...day),
        Entry(key: "failure_base", timer: \.failureBase, range: tick...day),
        Entry(key: "failure_cap", timer: \.failureCap, range: tick...day),
        Entry(key: "retry_base", timer: \.retryBase, range: .seconds(10)...day),
        Entry(key: "retry_cap", timer: \.retryCap, range: .seconds(10)...day),
        Entry(key: "strike_window", timer: \.strikeWindow, range: .seconds(1)...(.seconds(7 * 86_400))),
        Entry(key: "lease_keep", timer: \.leaseKeep, range: .seconds(1)...day),
        Entry(key: "idle_exit", timer: \.idleExit, range: .zero...(.seconds(365 * 86_400))),
    ]

    /// Sets the timers that `timers` of `object` names.
    static func read(from object: ConfigurationObject, into timers: inout HandlerTimers) {
        guard let found = object.object("timers", keys: all.map(\.key)) else { return }
        for entry in all {
            if let span = found.span(entry.key, in: entry.range) { timers[keyPath: entry.timer] = span }
        }
    }

    /// Sets one of the few timers that a manifest has at its top.
    static func readOwnKey(_ key: String, of object: ConfigurationObject, into timers: inout HandlerTimers) {
        guard let entry = all.first(where: { $0.key == key }), object.has(key) else { return }
        if object.object("timers", keys: nil)?.has(key) ?? false {
            object.add("\(key) is set twice, at the top and in timers; keep one", at: key)
        }
        if let span = object.span(key, in: entry.range) { timers[keyPath: entry.timer] = span }
    }

    /// A short budget shortens the warning to a fifth, the default's proportion, unless the file names `warn`. So you can set a short
    /// budget without knowing the other timers.
    static func fitWarning(of object: ConfigurationObject, into timers: inout HandlerTimers) {
        if object.object("timers", keys: nil)?.has("warn") ?? false { return }
        if timers.warn * 2 > timers.budget { timers.warn = TimeSpan(nanoseconds: timers.budget.nanoseconds / 5) }
    }

    /// Contradicting timers would make wakes hard to explain.
    static func checkOrder(of timers: HandlerTimers, report: ConfigurationReport) {
        func refuse(_ name: String, _ span: TimeSpan, over limitName: String, _ limit: TimeSpan) {
            guard span > limit else { return }
            report.add(
                "\(name) is \(span.text), longer than \(limitName), \(limit.text); "
                    + "lower \(name) or raise \(limitName)",
                at: .value(of: name, .key("timers"))
            )
        }
        refuse("warn", timers.warn, over: "budget", timers.budget)
        refuse("failure_base", timers.failureBase, over: "failure_cap", timers.failureCap)
        refuse("retry_base", timers.retryBase, over: "retry_cap", timers.retryCap)
    }
}
