// Transfers as iOS's background URLSession has them: a session that is known by its name, and tasks that go on while the handler
// sleeps or is gone.
internal import WakeModel

/// A session of transfers that the manifest declares. ``BackgroundSession/transferSession(withIdentifier:delegate:)`` makes one.
///
/// ```swift
/// let photos = session.transferSession(withIdentifier: "photos", delegate: album)
/// try await photos.downloadTask("17", from: "https://example.org/17.jpg", to: "photos/17.jpg").resume()
/// ```
///
/// It is the same session in each process of the handler. Make it at each start, before the session runs: what became of its
/// tasks meanwhile comes to the delegate.
@MainActor
public struct TransferSession: Sendable {
    let session: BackgroundSession
    /// Its name in the manifest.
    public nonisolated let identifier: String

    /// A task that receives a file. Nothing happens before its ``TransferTask/resume()``.
    /// - Parameters:
    ///   - taskIdentifier: its name in the session.
    ///   - path: from your state directory on.
    public func downloadTask(
        _ taskIdentifier: String, from address: String, to path: String, options: TransferOptions = TransferOptions()
    ) -> TransferTask {
        var members = JSONMembers()
        members.add("to", .string(path))
        return task(taskIdentifier, address, members, options)
    }

    /// A task that sends a file, from its beginning at each attempt; the server sees by `Idempotency-Key` that they are one.
    /// Nothing happens before its ``TransferTask/resume()``.
    /// - Parameters:
    ///   - taskIdentifier: its name in the session.
    ///   - path: from your state directory on.
    ///   - method: `PUT` or `POST`.
    public func uploadTask(
        _ taskIdentifier: String, fromFile path: String, to address: String, method: String = "PUT",
        options: TransferOptions = TransferOptions()
    ) -> TransferTask {
        var members = JSONMembers()
        members.add("from", .string(path))
        members.add("method", .string(method))
        return task(taskIdentifier, address, members, options)
    }

    /// The tasks that the daemon has, such as those that an earlier process handed over.
    /// - Throws: where the daemon does not answer.
    public func allTasks() async throws(BridgeError) -> [TransferTask] {
        let pending = try await session.pendingRequests().filter { $0.source == .transfer }
        let names = pending.map { $0.identifier.split(separator: "/", maxSplits: 1).map(String.init) }
        return names.filter { $0.count == 2 && $0[0] == identifier }.map { task($0[1]) }
    }

    /// Cancels all of them. Their ends are not reported.
    /// - Throws: where the daemon does not answer.
    public func cancelAllTasks() async throws(BridgeError) {
        for task in try await allTasks() { task.cancel() }
    }

    /// A task that the daemon has.
    func task(_ taskIdentifier: String) -> TransferTask {
        TransferTask(session: session, sessionIdentifier: identifier, identifier: taskIdentifier, members: nil)
    }

    private func task(
        _ taskIdentifier: String, _ address: String, _ direction: JSONMembers, _ options: TransferOptions
    ) -> TransferTask {
        var members = direction
        members.add("url", .string(address))
        options.add(to: &members)
        return TransferTask(
            session: session, sessionIdentifier: identifier, identifier: taskIdentifier, members: members)
    }
}

/// A file that is received or sent. ``TransferSession`` makes it, or the delegate gets it.
@MainActor
public struct TransferTask: Sendable {
    let session: BackgroundSession
    /// The ``TransferSession/identifier`` of its session.
    public nonisolated let sessionIdentifier: String
    /// Its name in the session.
    public nonisolated let identifier: String
    /// Nil of one that the daemon has.
    let members: JSONMembers?

    /// Hands the task over, or lets one move that was handed over as paused. The same task again changes nothing.
    /// - Parameter completion: called on the main actor; fails where the daemon or the manifest refuses.
    public func resume(completion: @escaping (Result<ScheduleAnswer, BridgeError>) -> Void = { _ in }) {
        session.order(resumption, completion)
    }

    /// Hands the task over, or lets one move that was handed over as paused. The same task again changes nothing.
    /// - Throws: where the daemon or the manifest refuses.
    @discardableResult
    public func resume() async throws(BridgeError) -> ScheduleAnswer { try await session.order(resumption) }

    /// Takes the task back. Its end is not reported, and nothing of its file stays.
    public func cancel() { session.order(HandlerOrder(.cancel, .object(of: "transfer", .string(name)))) }

    private var name: String { "\(sessionIdentifier)/\(identifier)" }

    private var resumption: HandlerOrder {
        guard var members else { return HandlerOrder(.resume, .string(name)) }
        members.add("session", .string(sessionIdentifier))
        members.add("id", .string(identifier))
        return HandlerOrder(.transfer, members.object)
    }

    func answer(_ user: String, _ password: String) {
        var members = JSONMembers()
        members.add("transfer", .string(name))
        members.add("user", .string(user))
        members.add("password", .string(password))
        session.order(HandlerOrder(.credential, members.object))
    }
}

/// The conditions of a task, and the facts of its file that are known beforehand.
public struct TransferOptions: Hashable, Sendable {
    /// It does not begin before this has passed: as `earliestBeginDate`.
    public var earliestBegin: Duration?
    /// From the order on; then it moves whatever power and link are like.
    public var deadline: Duration?
    /// The digest of the whole file, 64 hexadecimal digits: another file fails.
    public var sha256: String?
    /// Bytes: as `countOfBytesClientExpectsToReceive`.
    public var expectedReceived: Int?
    /// Bytes: as `countOfBytesClientExpectsToSend`.
    public var expectedSent: Int?
    /// It is handed over, and waits for a second ``TransferTask/resume()``, of a task of ``TransferSession/allTasks()``.
    public var isPaused = false

    /// Makes options without any of this.
    public init() {}

    func add(to members: inout JSONMembers) {
        members.add("not_before_s", earliestBegin.map { .seconds($0) })
        members.add("deadline_s", deadline.map { .seconds($0) })
        members.add("sha256", sha256.map { .string($0) })
        members.add("expect_received", expectedReceived.map { .integer(Int64($0)) })
        members.add("expect_sent", expectedSent.map { .integer(Int64($0)) })
        members.add("paused", isPaused ? .boolean(true) : nil)
    }
}
