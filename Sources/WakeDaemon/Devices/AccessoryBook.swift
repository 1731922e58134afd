// Which accessory is which, kept over restarts in one small file of the state directory.
import WakeSources
import WakeSystem

/// A line of JSON for each.
final class AccessoryBook {
    private var book: LineBook
    /// What is to be kept, and is not yet: a turn of the loop may bring many changes.
    private var pending: AccessoryRegistry?
    private var isToldOfFailure = false
    private let log = Log("accessories")

    init(in directory: String) { book = LineBook(directory + "/accessories", log) }

    func read() -> AccessoryRegistry {
        var registry = AccessoryRegistry()
        book.read("accessories without serial numbers count as new") { registry.take(line: $0) }
        return registry
    }

    func note(_ registry: AccessoryRegistry) { pending = registry }

    /// Writes what was noted, if anything was.
    func keep() {
        guard let registry = pending else { return }
        pending = nil
        do throws(SystemError) {
            try book.write(registry.lines)
            isToldOfFailure = false
        } catch {
            guard !isToldOfFailure else { return }
            isToldOfFailure = true
            log.error("\(error.description); accessories without serial numbers may count as new after a restart")
        }
    }
}
