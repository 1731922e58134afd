// The condition `mount:PATH`: something is mounted there. The kernel tells of each change.
import WakeLoop
import WakeModel
import WakeSystem

final class MountWatch: ConditionWatch {
    private let path: String
    private let table: MountTable
    private var watch: Watch?

    init(
        on loop: EventLoop, _ path: String, table: String, _ listener: @escaping (Bool) -> Void
    ) throws(SystemError) {
        self.path = path
        self.table = try MountTable(table)
        super.init(listener)
        watch = try loop.watch(self.table.raw, for: .priority, of: self) { $0.look() }
        report(try self.table.hasMount(at: path))
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    private func look() { if let isMounted = try? table.hasMount(at: path) { report(isMounted) } }
}
