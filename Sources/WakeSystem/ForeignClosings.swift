// Closing what another program sent, on threads: a socket that lingers or a file system of its own can hold a close for ever.
import Synchronization

/// The closings for one sender, so few at a time that it can occupy no more than ``limit`` threads.
public final class ForeignClosings: Sendable {
    public typealias Work = @Sendable () -> Void

    /// Threads at a time for one sender.
    public static let limit = 4

    private let underWay = Atomic<Int>(0)
    /// What no thread could be started for; it holds what it would close.
    private let waiting = Mutex<[Work]>([])

    public init() {}

    /// What it sent before takes up all threads that it may have. Begin nothing for it that may need another.
    public var isFull: Bool {
        retry()
        return underWay.load(ordering: .acquiring) + waiting.withLock { $0.count } >= Self.limit
    }

    /// Does the work on a thread of its own; the errand's answer says that it is done. EAGAIN where there are ``limit`` of them.
    func begin(_ work: @escaping Work) throws(SystemError) -> Errand<Void> {
        let count = underWay.add(1, ordering: .relaxed).newValue
        do throws(SystemError) {
            guard count <= Self.limit else { throw SystemError("start", "one more thread for a sender", .wouldBlock) }
            return try Errand { [self] in
                work()
                underWay.subtract(1, ordering: .releasing)
            }
        } catch {
            underWay.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    /// The same for an owner that goes: where no thread can be had now, the work waits until the sender is asked for again.
    func close(_ work: @escaping Work) {
        waiting.withLock { $0.append(work) }
        retry()
    }

    private func retry() {
        let works = waiting.withLock { list in
            defer { list = [] }
            return list
        }
        for work in works where (try? begin(work)) == nil { waiting.withLock { $0.append(work) } }
    }
}
