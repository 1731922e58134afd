// A time in a trace, as people name it, and the state there that the lines before it determine.
import WakeModel

public enum TraceMark: Hashable, Sendable {
    /// This long after the trace's start, with the time that the machine slept or was off.
    case elapsed(TimeSpan)
    /// The first moment at which the wall clock has this time, or a later one.
    case wall(WallTime)

    /// `90s`, or `2026-11-21T07:42:46Z`; nil for anything else.
    public init?(_ text: String) {
        if let span = TimeSpan(text: text) {
            self = .elapsed(span)
        } else if let time = WallTime(rfc3339: text) {
            self = .wall(time)
        } else {
            return nil
        }
    }

    /// Whether it has come, by a machine's clocks.
    public func hasCome(elapsed: TimeSpan, wall: WallTime) -> Bool {
        switch self {
        case .elapsed(let span): elapsed >= span
        case .wall(let time): wall >= time
        }
    }

    /// Whether it is before the other; nil if only the trace can decide.
    public func isBefore(_ other: TraceMark) -> Bool? {
        switch (self, other) {
        case (.elapsed(let span), .elapsed(let later)): span < later
        case (.wall(let time), .wall(let later)): time < later
        case (.elapsed, .wall), (.wall, .elapsed): nil
        }
    }

    /// How long ago it was; negative before.
    func passed(at offset: TimeSpan, by clock: TraceClock) -> TimeSpan {
        switch self {
        case .elapsed(let span): clock.elapsed(at: offset) - span
        case .wall(let time): .microseconds(clock.wall(at: offset).microseconds &- time.microseconds)
        }
    }
}

extension TraceMark: CustomStringConvertible {
    public var description: String {
        switch self {
        case .elapsed(let span): span.text
        case .wall(let time): time.rfc3339
        }
    }
}

extension TraceError {
    /// - Parameter line: the last one.
    public static func endsBefore(_ mark: TraceMark, line: Int) -> TraceError {
        TraceError(line: line, column: 1, reason: "the trace ends here, before \(mark), where the part is to begin")
    }
}

/// The state at a place of a trace: links, conditions, manifests, and an operator's actions.
public struct TraceStanding: Sendable {
    private struct Handler {
        var name: String
        var manifest: String?
        var isAttached = false
        var isStopped = false
    }

    public private(set) var zone: String?
    private var isUp: [Bool]
    private var conditions: [(word: String, isTrue: Bool)] = []
    private var isSynchronized: Bool?
    private var handlers: [Handler] = []

    public init(of header: TraceHeader) {
        zone = header.zone
        isUp = header.devices.map { _ in false }
    }

    public mutating func follow(_ operation: TraceOperation) {
        switch operation.subject {
        case .device(let place, .connected): isUp[place] = true
        case .device(let place, .disconnected): isUp[place] = false
        case .device: break
        case .machine(let change): follow(change)
        case .handler(let name, let deed): follow(deed, of: name)
        }
    }

    private mutating func follow(_ change: MachineOperation) {
        switch change {
        case .condition(let word, let isTrue):
            conditions.removeAll { $0.word == word }
            conditions.append((word: word, isTrue: isTrue))
        case .synchronized(let isTrue): isSynchronized = isTrue
        case .zone(let name): zone = name
        // The clock has them.
        case .clock, .sleep, .restart, .reboot: break
        }
    }

    private mutating func follow(_ deed: HandlerOperation, of name: String) {
        switch deed {
        case .manifest(let object): change(name) { $0.manifest = object }
        case .remove: handlers.removeAll { $0.name == name }
        case .attach: change(name) { $0.isAttached = true }
        case .detach: change(name) { $0.isAttached = false }
        case .stop: change(name) { $0.isStopped = true }
        case .start: change(name) { $0.isStopped = false }
        case .say, .message, .transfer, .readable, .central: break
        }
    }

    private mutating func change(_ name: String, _ change: (inout Handler) -> Void) {
        if let place = handlers.firstIndex(where: { $0.name == name }) { return change(&handlers[place]) }
        var handler = Handler(name: name)
        change(&handler)
        handlers.append(handler)
    }

    /// The first lines of a trace that begins here. Manifests come before all that devices and handlers do.
    public var told: [TraceOperation.Subject] {
        var told: [TraceOperation.Subject] = conditions.map { .machine(.condition($0.word, isTrue: $0.isTrue)) }
        if let isSynchronized { told.append(.machine(.synchronized(isSynchronized))) }
        for handler in handlers {
            if let manifest = handler.manifest { told.append(.handler(handler.name, .manifest(manifest))) }
        }
        for handler in handlers where handler.isAttached { told.append(.handler(handler.name, .attach)) }
        for handler in handlers where handler.isStopped { told.append(.handler(handler.name, .stop)) }
        for place in isUp.indices where isUp[place] { told.append(.device(place, .connected(folded: 0))) }
        return told
    }
}
