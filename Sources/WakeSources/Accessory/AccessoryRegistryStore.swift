// Which accessory is which, kept over restarts in one small file of the state directory: a line of JSON for each.
import WakeSystem

/// Where a source keeps its registry.
protocol AccessoryRegistryStoring: AnyObject {
    /// Replaces what was saved before.
    func save(_ registry: AccessoryRegistry)
    /// Writes what was saved last, if it is not written yet.
    func write()
}

final class AccessoryRegistryStore: AccessoryRegistryStoring {
    private var file: LineFileStore
    /// The registry to write: a turn of the loop may bring many changes.
    private var pending: AccessoryRegistry?
    private var hasReportedFailure = false
    private let log = Log("accessories")

    init(in directory: String) { file = LineFileStore(directory + "/accessories", log) }

    func read() -> AccessoryRegistry {
        var registry = AccessoryRegistry()
        file.read("accessories without serial numbers count as new") { registry.add(line: $0) }
        return registry
    }

    func save(_ registry: AccessoryRegistry) { pending = registry }

    func write() {
        guard let registry = pending else { return }
        pending = nil
        do throws(SystemError) {
            try file.write(registry.lines)
            hasReportedFailure = false
        } catch {
            guard !hasReportedFailure else { return }
            hasReportedFailure = true
            log.error("\(error.description); accessories without serial numbers may count as new after a restart")
        }
    }
}
