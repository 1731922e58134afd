// A task: work that may take longer than the budget of the event that began it.

/// The token of an open task. End every task you begin: one left open past the pool's end ends the process.
///
/// Releasing the token does not end the task, as on iOS: Swift may release a value right after its last use, which would
/// end the task while its work goes on.
public struct BackgroundTask: Sendable {
    /// Unique among the open tasks; a name that is already open gets a number.
    public let name: String
    let number: Int64
    let session: BackgroundSession

    /// Ends the task. Does nothing the second time, or after the daemon refused the task.
    @MainActor
    public func end() { session.end(self) }
}

/// The open tasks of a session, in the order they were begun.
struct OpenTasks {
    private var tasks: [(number: Int64, name: String, expiration: (() -> Void)?)] = []

    func uniqueName(_ wished: String) -> String {
        guard tasks.contains(where: { $0.name == wished }) else { return wished }
        var count = 2
        while tasks.contains(where: { $0.name == "\(wished)#\(count)" }) { count += 1 }
        return "\(wished)#\(count)"
    }

    mutating func add(_ number: Int64, _ name: String, _ expiration: (() -> Void)?) {
        tasks.append((number, name, expiration))
    }

    /// Returns whether it was open.
    mutating func remove(_ number: Int64) -> Bool {
        let before = tasks.count
        tasks.removeAll { $0.number == number }
        return tasks.count < before
    }

    /// Removes and returns the closures, so that each is called once, however often the daemon warns.
    mutating func removeExpirations(of number: Int64? = nil) -> [() -> Void] {
        var taken: [() -> Void] = []
        for index in tasks.indices where number == nil || tasks[index].number == number {
            if let expiration = tasks[index].expiration { taken.append(expiration) }
            tasks[index].expiration = nil
        }
        return taken
    }
}
