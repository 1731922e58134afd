// The poll as iOS's background fetch: a closure that looks for news, and how often it may.
internal import WakeModel

/// Looks for news as often as it is worth it. ``BackgroundSession/backgroundFetch`` is one.
///
/// ```swift
/// session.backgroundFetch.register { fetch in
///     let news = try await download()
///     return news.isEmpty ? .noData : .newData
/// }
/// ```
///
/// The manifest permits it with `poll`. A poll for which nothing is registered comes to ``BackgroundSessionDelegate`` or
/// ``BackgroundSession/events``.
@MainActor
public struct BackgroundFetch: Sendable {
    let session: BackgroundSession

    /// Registers a closure that looks for news: as `performFetchWithCompletionHandler`. Register before the session runs.
    /// - Parameter perform: its result decides how soon the next one comes. After an error the same one comes again.
    /// - Returns: false where a closure is registered already; that one stays.
    @discardableResult
    public func register(_ perform: @escaping @MainActor (DueFetch) throws -> FetchResult) -> Bool {
        session.register(.fetch) { work in
            if case .fetch(let fetch) = work.event.kind { work.perform { try perform(fetch).workResult } }
        }
    }

    /// Registers work that awaits. It is cancelled when its time is nearly over.
    /// - Parameter perform: its result decides how soon the next one comes. After an error the same one comes again.
    /// - Returns: false where a closure is registered already; that one stays.
    @discardableResult
    public func register(_ perform: @escaping @MainActor @Sendable (DueFetch) async throws -> FetchResult) -> Bool {
        session.register(.fetch) { work in
            if case .fetch(let fetch) = work.event.kind { work.perform { try await perform(fetch).workResult } }
        }
    }

    /// Polls no more often than this: as `setMinimumBackgroundFetchInterval`. The manifest's own floor holds beside it.
    /// - Throws: where the daemon or the manifest refuses.
    @discardableResult
    public func setMinimumInterval(_ interval: Duration) async throws(BridgeError) -> ScheduleAnswer {
        try await session.order(intervalOrder(interval))
    }

    /// Polls no more often than this.
    /// - Parameter completion: called on the main actor; fails where the daemon or the manifest refuses.
    public func setMinimumInterval(
        _ interval: Duration, completion: @escaping (Result<ScheduleAnswer, BridgeError>) -> Void = { _ in }
    ) {
        session.order(intervalOrder(interval), completion)
    }

    /// Polls no more, until an interval is set again: as `backgroundFetchIntervalNever`.
    public func stop() { session.order(HandlerOrder(.poll, .string("never"))) }

    private func intervalOrder(_ interval: Duration) -> HandlerOrder {
        HandlerOrder(.poll, .object(of: "min_interval_s", .seconds(interval)))
    }
}
