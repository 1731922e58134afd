// handlers.d on disk: read, compared with the last reading, and watched for new files.
import Glibc
import WakeAgenda
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

/// Owns the folder's watch. A broken manifest is logged and leaves what ran before as it was.
final class ManifestFolder {
    private let path: String
    private let defaults: BridgeSettings
    private var known = ConfigurationFolder()
    /// The faults of the texts of the last reading, by handler id.
    private var broken: [String: [ConfigurationError]] = [:]
    /// The peripherals of the manifests that were taken, by handler id.
    private var peripherals: [String: PeripheralRule] = [:]
    /// Files that could not be read just now, by handler id; the folder itself under an empty one.
    private var unreadable: [String: ConfigurationError] = [:]
    /// A manifest that was not taken at the last reading because the machine lacked something for it.
    private(set) var lack: ConfigurationError?
    private let accounts: AccountBook
    private var directory: DirectoryWatch
    /// The folder above, where another one may come in the place of ours; ours once more where that may not be read.
    private let parent: DirectoryWatch
    private var watches: [Watch] = []
    private var settle: Timer?

    /// The changes of one reading of the folder.
    struct Changes {
        var adopted: [HandlerManifest] = []
        var removed: [String] = []
        var isEmpty: Bool { adopted.isEmpty && removed.isEmpty }
    }

    /// An editor writes a file in several steps; a reading waits until it has come to rest.
    private static let settleTime = TimeSpan.milliseconds(50)
    /// A file that was created is written next, perhaps over a slow line; a link is never written to.
    private static let beginningTime = TimeSpan.seconds(1)

    init(_ path: String, defaults: BridgeSettings, accounts: AccountBook) throws(SystemError) {
        self.path = path
        self.accounts = accounts
        self.defaults = defaults
        // A link is made and never written to.
        directory = try DirectoryWatch(path, seesNew: true)
        do throws(SystemError) { parent = try DirectoryWatch(File.parent(of: path), seesNew: true) } catch {
            parent = try DirectoryWatch(path)
        }
    }

    /// Before what they watch is closed.
    deinit { for watch in watches { watch.cancel() } }

    /// Everything that is wrong with the folder as it was read last.
    var faults: [String] {
        unreadable.values.map(\.sentence).sorted()
            + broken.sorted { $0.key < $1.key }.flatMap(\.value).map(\.description)
    }

    /// The faults of each manifest that was not taken at the last reading, by handler id; of the folder under an empty one.
    var refused: [String: [ConfigurationError]] { broken.merging(unreadable.mapValues { [$0] }) { $1 } }

    /// Whether the manifest is there, broken or not; of an instance, whether its own is there and cannot be taken.
    func mayReturn(_ name: String, beside templates: Set<String>) -> Bool {
        guard let names else { return true }
        guard let end = name.firstIndex(of: "@") else { return names.contains(name) }
        let template = String(name[..<end])
        return names.contains(template) && !templates.contains(template)
    }

    /// All manifests in the folder at the last reading, with the broken ones; nil where it could not be read.
    var names: Set<String>? {
        unreadable[""] == nil ? Set(known.manifests.keys).union(unreadable.keys) : nil
    }

    /// Faults of manifests that are taken, with their lines in the texts that were read last.
    func located(_ faults: [ConfigurationError]) -> [ConfigurationError] {
        faults.flatMap { fault in
            let text = fault.handler.flatMap { known.manifests[$0] } ?? []
            return ConfigurationErrors([fault]).located(in: text).all
        }
    }

    /// Calls `body` when the folder has changed and come to rest.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        settle = try loop.timer(on: .monotonic, of: owner, body)
        watches = [
            try loop.watch(directory.raw, for: .readable, of: self) {
                let isMore = (try? $0.directory.drain()) ?? true
                $0.readAfter(isMore ? Self.settleTime : Self.beginningTime)
            },
            try loop.watch(parent.raw, for: .readable, of: self) {
                _ = try? $0.parent.drain()
                if $0.directory.renew() { $0.readAfter(Self.settleTime) }
            },
        ]
    }

    private func readAfter(_ pause: TimeSpan) { settle?.arm(at: SystemClock.monotonic() + pause) }

    /// Reads the folder and returns the changes since the last reading.
    func read(knowing profiles: ProfileLibrary) -> Changes {
        guard let current = look() else { return Changes() }
        accounts.renew()
        let changes = known.changes(to: current)
        known = current
        for id in changes.removed { (broken[id], peripherals[id]) = (nil, nil) }
        // A broken manifest may be well now through a change elsewhere, such as a new user.
        let suspects = broken.keys.filter { !changes.added.contains($0) && !changes.changed.contains($0) }
        let adopted = (changes.added + changes.changed + suspects.sorted())
            .compactMap { adopt($0, current.manifests[$0] ?? [], profiles) }
        return Changes(adopted: adopted, removed: changes.removed)
    }

    private func adopt(_ id: String, _ text: [UInt8], _ profiles: ProfileLibrary) -> HandlerManifest? {
        var reading = ManifestReading(
            of: "\(path)/\(id).json5", id: id, text: text, isRoot: geteuid() == 0, defaults: defaults.timers, profiles,
            accounts)
        reading.add(faults(ofPeripheral: reading.manifest))
        guard reading.faults.isEmpty else {
            lack = lack ?? reading.faults.first(where: \.isPassing)
            broken[id] = reading.faults
            return nil
        }
        var manifest = reading.manifest
        (broken[id], peripherals[id]) = (nil, manifest.agenda.peripheral)
        for index in manifest.settings.subscriptions.indices
        where manifest.settings.subscriptions[index].retention == nil {
            manifest.settings.subscriptions[index].retention = defaults.journal.retention
        }
        return manifest
    }

    /// A central could not choose between two services of one UUID.
    private func faults(ofPeripheral manifest: HandlerManifest) -> [ConfigurationError] {
        guard let own = manifest.agenda.peripheral else { return [] }
        return peripherals.sorted { $0.key < $1.key }.compactMap { id, other in
            guard id != manifest.id, let service = own.sharedService(with: other) else { return nil }
            let sentence =
                "peripheral has the service \(service), which handler \(id) serves on the same adapter; leave it out, or name another adapter in both"
            return ConfigurationError(file: manifest.file, sentence: sentence, place: .key("peripheral"))
        }
    }

    /// Nil where the folder itself cannot be read. A file that cannot be is reported, and counts as it was read last:
    /// no handler is removed because a disk failed once.
    private func look() -> ConfigurationFolder? {
        (unreadable, lack) = ([:], nil)
        var files: [String: [UInt8]] = [:]
        do throws(SystemError) {
            for name in try TrustedDirectory.names(in: path) {
                guard let id = HandlerManifest.identifier(ofFile: name) else { continue }
                files[name] = read(name, id)
            }
        } catch {
            refuse("", error)
            return nil
        }
        return ConfigurationFolder(files: files)
    }

    private func refuse(_ id: String, _ error: SystemError) {
        let fault = ConfigurationError(file: id.isEmpty ? path : "\(path)/\(id).json5", error)
        unreadable[id] = fault
        if fault.isPassing { lack = lack ?? fault }
    }

    private func read(_ name: String, _ id: String) -> [UInt8]? {
        do {
            return try TrustedFile.bytes(at: "\(path)/\(name)", limit: 1 << 20)
        } catch {
            // Gone since its name was listed.
            if error.errno == .noEntry { return nil }
            refuse(id, error)
            return known.manifests[id]
        }
    }
}

extension ConfigurationError {
    /// The id of the manifest that it is about; nil for another file.
    var handler: String? {
        HandlerManifest.identifier(ofFile: file.split(separator: "/").last.map(String.init) ?? "")
    }
}
