// Which accessory is which, kept over restarts in one small file of the state directory.
import WakeSources
import WakeSystem

/// A line of JSON for each, which people can read and mend.
struct AccessoryBook {
    private let path: String

    init(in directory: String) { path = directory + "/accessories" }

    /// What cannot be read is left out, and told.
    func read() -> AccessoryRegistry {
        guard File.exists(path) else { return AccessoryRegistry() }
        do throws(SystemError) {
            var complaints: [String] = []
            let text = String(decoding: try File.bytes(at: path, limit: 4 << 20), as: UTF8.self)
            let registry = AccessoryRegistry(
                lines: text.split(separator: "\n").map(String.init), complaints: &complaints)
            for complaint in complaints { Log("accessories").error("\(complaint); see \(path)") }
            return registry
        } catch {
            Log("accessories").error("\(error.description); accessories without serial numbers count as new")
            return AccessoryRegistry()
        }
    }

    func keep(_ registry: AccessoryRegistry) {
        do throws(SystemError) {
            try File.replace(path, with: Array(registry.lines.map { $0 + "\n" }.joined().utf8), mode: 0o600)
        } catch {
            Log("accessories").error(
                "\(error.description); accessories without serial numbers may count as new after a restart")
        }
    }
}
