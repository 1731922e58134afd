// The inbox as iOS's remote notifications: a closure gets each message, and returns its result.

/// Has what is sent to the handler. ``BackgroundSession/remoteNotifications`` is one.
///
/// ```swift
/// session.remoteNotifications.register { message in
///     try await fetch(message.text) ? .newData : .noData
/// }
/// ```
///
/// The manifest permits it with `inbox`. A message for which nothing is registered comes to ``BackgroundSessionDelegate`` or
/// ``BackgroundSession/events``.
@MainActor
public struct RemoteNotifications: Sendable {
    let session: BackgroundSession

    /// Registers a closure for messages: as `didReceiveRemoteNotification`. Register before the session runs.
    /// - Parameter receive: after an error the message comes again.
    /// - Returns: false where a closure is registered already; that one stays.
    @discardableResult
    public func register(_ receive: @escaping @MainActor (ReceivedMessage) throws -> FetchResult) -> Bool {
        session.register(.message) { work in
            guard case .message(let message) = work.event.kind else { return }
            work.perform { try receive(message).workResult }
        }
    }

    /// Registers work that awaits. It is cancelled when its time is nearly over.
    /// - Parameter receive: after an error the message comes again.
    /// - Returns: false where a closure is registered already; that one stays.
    @discardableResult
    public func register(
        _ receive: @escaping @MainActor @Sendable (ReceivedMessage) async throws -> FetchResult
    ) -> Bool {
        session.register(.message) { work in
            guard case .message(let message) = work.event.kind else { return }
            work.perform { try await receive(message).workResult }
        }
    }
}
