// Closes, on threads, descriptors that another program sent: a lingering socket or a file system can block a close for ever.
import Synchronization

/// The closings for one sender, which may occupy at most ``limit`` threads.
public final class ForeignClosings: Sendable {
    public typealias Work = @Sendable () -> Void

    /// The most threads at a time for one sender.
    public static let limit = 4

    private let underWay = Atomic<Int>(0)
    /// Work for which no thread could be started; it holds the descriptors that it would close.
    private let waiting = Mutex<[Work]>([])

    public init() {}

    /// Whether the sender occupies all its threads. Begin nothing for it that may need another.
    public var isFull: Bool {
        retry()
        return underWay.load(ordering: .acquiring) + waiting.withLock { $0.count } >= Self.limit
    }

    /// Does the work on its own thread; the job's result means that it is done. EAGAIN if there are ``limit`` threads.
    func begin(_ work: @escaping Work) throws(SystemError) -> BackgroundJob<Void> {
        let count = underWay.add(1, ordering: .relaxed).newValue
        do throws(SystemError) {
            guard count <= Self.limit else { throw SystemError("start", "one more thread for a sender", .wouldBlock) }
            return try BackgroundJob { [self] in
                work()
                underWay.subtract(1, ordering: .releasing)
            }
        } catch {
            underWay.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    /// The same for an owner that ends: where no thread is available, the work waits for the sender's next closing.
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
