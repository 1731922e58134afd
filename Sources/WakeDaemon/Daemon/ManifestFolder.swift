// handlers.d as it stands on disk: read, compared with what was read before, watched for what is dropped in.
import WakeCore
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

/// Owns the folder's watch. A broken manifest is told and leaves what ran before as it was.
final class ManifestFolder {
    private let path: String
    private let profiles: ProfileLibrary
    private let isRoot: Bool
    private let defaults: HandlerTimers
    private var known = ConfigurationFolder()
    private let directory: DirectoryWatch
    private var watch: Watch?
    private var settle: Timer?

    /// What a reading of the folder brought.
    struct Changes {
        var adopted: [HandlerManifest] = []
        var removed: [String] = []
        var errors: [String] = []
    }

    /// An editor writes a file in several steps; a reading waits until it has come to rest.
    private static let settleTime = TimeSpan.milliseconds(50)

    init(_ path: String, profiles: ProfileLibrary, isRoot: Bool, defaults: HandlerTimers) throws(SystemError) {
        self.path = path
        self.profiles = profiles
        self.isRoot = isRoot
        self.defaults = defaults
        directory = try DirectoryWatch(path)
    }

    /// Calls `body` when the folder has changed and come to rest.
    func onChange(_ loop: EventLoop, _ body: @escaping () -> Void) throws(SystemError) {
        let settle = try loop.timer(on: .monotonic, body)
        self.settle = settle
        watch = try loop.watch(directory.raw, for: .readable) { [unowned self] _ in
            try? directory.drain()
            settle.arm(at: SystemClock.monotonic() + Self.settleTime)
        }
    }

    /// Reads the folder and says what is new, other or gone since the last reading.
    func read() -> Changes {
        var result = Changes()
        let current = ConfigurationFolder(files: files(&result.errors))
        let changes = known.changes(to: current)
        for id in changes.added + changes.changed {
            guard let text = current.manifests[id] else { continue }
            do {
                result.adopted.append(try manifest(id, text))
            } catch {
                result.errors += error.all.map(\.description)
            }
        }
        result.removed = changes.removed
        known = current
        return result
    }

    private func manifest(_ id: String, _ text: [UInt8]) throws(ConfigurationErrors) -> HandlerManifest {
        var manifest = try HandlerManifest(
            id: id, file: "\(path)/\(id).json5", text: text, isRoot: isRoot, defaults: defaults)
        let faults = manifest.faults(against: profiles)
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        manifest.exec = manifest.command(in: path)
        return manifest
    }

    private func files(_ errors: inout [String]) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        do {
            for name in try Directory.names(in: path) where HandlerManifest.identifier(ofFile: name) != nil {
                files[name] = try File.bytes(at: "\(path)/\(name)", limit: 1 << 20)
            }
        } catch {
            errors.append(error.description)
        }
        return files
    }
}
