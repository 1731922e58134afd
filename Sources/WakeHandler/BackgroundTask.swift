// A stretch of work that may outlast the budget of the event that began it.

/// The token of an open task. End every task you begin: one left open past the pool's end ends the process.
///
/// Letting go of the token does not end the task, as on iOS: Swift may release a value right after its last use,
/// which would end the task while its work goes on.
public struct BackgroundTask {
    /// Unique among the open tasks; a number is put behind a name that is open already.
    public let name: String
    let number: Int64
    let session: BackgroundSession

    /// Ends the task. Again, or after the bridge refused it, this does nothing.
    public func end() { session.end(self) }
}

/// Open tasks of a session, in the order they were begun.
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

    /// True if it was open.
    mutating func remove(_ number: Int64) -> Bool {
        let before = tasks.count
        tasks.removeAll { $0.number == number }
        return tasks.count < before
    }

    /// Takes each closure out, so that it is called once however often the bridge warns.
    mutating func takeExpirations(of number: Int64? = nil) -> [() -> Void] {
        var taken: [() -> Void] = []
        for index in tasks.indices where number == nil || tasks[index].number == number {
            if let expiration = tasks[index].expiration { taken.append(expiration) }
            tasks[index].expiration = nil
        }
        return taken
    }
}
