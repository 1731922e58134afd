// Alarms as iOS's local notifications: requests that are added and removed, and closures for those that fire.
internal import WakeModel

/// Sets alarms that wake the handler, and takes those that fire. ``BackgroundSession/alarms`` is one.
///
/// ```swift
/// session.alarms.register(forAlarmWithIdentifier: "pill") { alarm in
///     session.log("take \(alarm.data?["dose"]?.integer ?? 1)")
///     return .useful
/// }
/// try await session.alarms.add(
///     AlarmRequest(identifier: "pill", trigger: .daily([TimeOfDay(7, 30)]), data: ["dose": 2]))
/// ```
///
/// The manifest permits them with `alarms`. An alarm stays over restarts of handler, daemon and machine. One for which
/// nothing is registered comes to ``BackgroundSessionDelegate`` or ``BackgroundSession/events``.
@MainActor
public struct AlarmCenter: Sendable {
    let session: BackgroundSession

    /// Registers a closure for an alarm that fires. Register before the session runs.
    /// - Parameters:
    ///   - identifier: the alarm's; nil for all alarms that have no closure of their own.
    ///   - handler: its result finishes the alarm. After an error it comes again.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forAlarmWithIdentifier identifier: String? = nil,
        handler: @escaping @MainActor (FiredAlarm) throws -> WorkResult
    ) -> Bool {
        session.register(subject(identifier)) { work in
            if case .alarm(let alarm) = work.event.kind { work.perform { try handler(alarm) } }
        }
    }

    /// Registers work that awaits for an alarm that fires. It is cancelled when its time is nearly over.
    /// - Parameters:
    ///   - identifier: the alarm's; nil for all alarms that have no closure of their own.
    ///   - handler: its result finishes the alarm. After an error it comes again.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forAlarmWithIdentifier identifier: String? = nil,
        handler: @escaping @MainActor @Sendable (FiredAlarm) async throws -> WorkResult
    ) -> Bool {
        session.register(subject(identifier)) { work in
            if case .alarm(let alarm) = work.event.kind { work.perform { try await handler(alarm) } }
        }
    }

    private func subject(_ identifier: String?) -> EventWorks.Subject { identifier.map { .alarm($0) } ?? .anyAlarm }

    /// Sets an alarm. One of the same identifier is replaced.
    /// - Parameter completion: called on the main actor; fails where the daemon or the manifest refuses.
    public func add(
        _ request: AlarmRequest, completion: @escaping (Result<ScheduleAnswer, BridgeError>) -> Void = { _ in }
    ) {
        session.order(request.order, completion)
    }

    /// Sets an alarm. One of the same identifier is replaced.
    /// - Throws: where the daemon or the manifest refuses.
    @discardableResult
    public func add(_ request: AlarmRequest) async throws(BridgeError) -> ScheduleAnswer {
        try await session.order(request.order)
    }

    /// Removes alarms of these identifiers. One that has fired already is still delivered.
    public func removePending(withIdentifiers identifiers: [String]) {
        for identifier in identifiers {
            session.order(HandlerOrder(.cancel, .object(of: "alarm", .string(identifier))))
        }
    }

    /// Removes all alarms that the handler has set.
    public func removeAllPending() { session.order(HandlerOrder(.cancel, .object(of: "alarms", .boolean(true)))) }

    /// The alarms that are to fire, those of the manifest among them.
    /// - Throws: where the daemon does not answer.
    public func pending() async throws(BridgeError) -> [PendingRequest] {
        try await session.pendingRequests().filter { $0.source == .alarm }
    }
}
