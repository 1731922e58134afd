// A flow as iOS's background audio: it keeps the handler awake while data flows, and reports its begin and end.
internal import WakeModel

/// A flow of the manifest. ``BackgroundSession/flow(_:)`` makes one.
///
/// While data flows the process is not frozen. A device's flow begins and ends by itself; you open one `from: "self"`:
///
/// ```swift
/// let ecg = session.flow("ecg")
/// while let block = await recorder.next() {
///     ecg.open()
///     write(block)
/// }
/// ecg.close()
/// ```
@MainActor
public struct BackgroundFlow: Sendable {
    /// Its name in the manifest.
    public let name: String
    let session: BackgroundSession

    /// Reports that data flows now: call it again before the manifest's `idle` is over, about once a second.
    ///
    /// It begins with a ``FlowChange`` event. Where another flow of its group comes first, it waits for that.
    public func open() { session.order(order(true)) }

    /// As ``open()``, and returns whether it is open, or has to wait.
    /// - Throws: where the daemon does not answer, or the manifest has no such flow.
    public func openAndAsk() async throws(BridgeError) -> ScheduleOutcome {
        try await session.order(order(true)).outcome
    }

    /// Ends it now. Of a device's flow it begins again when the device has paused.
    public func close() {
        session.forgetFlow(named: name)
        session.order(order(false))
    }

    private func order(_ isOpen: Bool) -> HandlerOrder {
        HandlerOrder(
            .flow,
            .object([
                JSONValue.Member(name: "name", value: .string(name)),
                JSONValue.Member(name: "open", value: .boolean(isOpen)),
            ]))
    }
}

/// A flow that began, was interrupted, or ended.
public struct FlowChange: Hashable, Sendable {
    /// A change of the flow.
    public enum Step: Hashable, Sendable {
        /// Data flows. The event stays open until the flow is over: finish it only to end the flow yourself.
        case started
        /// It is over for now, and begins again when that has gone and data still flows.
        case interrupted(FlowReason)
        /// It is over.
        case ended(FlowReason)
    }

    /// The flow's name in the manifest.
    public let name: String
    /// The change.
    public let step: Step

    /// It keeps the process awake from here on.
    public var hasStarted: Bool { step == .started }
}

/// Why a flow is over.
public enum FlowReason: BridgeWord {
    /// No data came for as long as the manifest's `idle`.
    case idle
    /// Another flow of its group comes first.
    case group
    /// The machine slept.
    case systemSleep
    /// The daemon was started again.
    case bridgeRestart
    /// You failed, and were held back for a while.
    case held
    /// A word of a later version.
    case other(String)

    public static let known: [FlowReason] = [.idle, .group, .systemSleep, .bridgeRestart, .held]

    public var word: String {
        switch self {
        case .idle: "idle"
        case .group: "group"
        case .systemSleep: "system-sleep"
        case .bridgeRestart: "bridge-restart"
        case .held: "held"
        case .other(let word): word
        }
    }
}

extension BackgroundSession {
    /// A flow of the manifest, by its name.
    public func flow(_ name: String) -> BackgroundFlow { BackgroundFlow(name: name, session: self) }

    /// The daemon has closed its beginning, or does so: nothing is to be written for it any more.
    func forgetFlow(named name: String) {
        for sequence in open.removeFlows(named: name) { works.remove(sequence) }
    }
}
