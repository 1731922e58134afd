// The folders of device profiles on disk, and their reading: the shipped ones first, then those that people add.
import Glibc
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

public enum ProfileFolder {
    /// They explain keys to people, and are for no device.
    private static let examples = ["example", "example-accessory"]
    /// Holds characteristics that many devices have, a file for each.
    private static let shared = "gatt"

    /// The contents of the folders, each profile once by name.
    struct Reading {
        var sources: [String: ProfileLibrary.Source] = [:]
        /// Characteristics that many devices have, by UUID.
        var shared: [String: SharedDefinition] = [:]
        /// Present profiles that cannot be read, by name.
        var unreadable: [String: ConfigurationError] = [:]
        /// A folder that is there and cannot be looked into.
        var blindness: [ConfigurationError] = []
        /// Profiles from such a folder that stay as they were, since no later folder has another of that name.
        var unseen: Set<String> = []

        /// Profiles that are probably present, and in no source.
        var kept: Set<String> { unseen.union(unreadable.keys) }

        var errors: [ConfigurationError] { blindness + unreadable.values.sorted { $0.file < $1.file } }
    }

    /// Everywhere that a user's bridge and tools look, a daemon, a replay and a scan alike; a later folder's profile replaces an
    /// earlier one of the same name.
    /// - Parameter configuration: the directory that is the user's own, or was named.
    public static func known(in configuration: String = DaemonOptions().configurationDirectory) -> [String] {
        known(besides: shipped(), in: configuration, user: geteuid())
    }

    /// The machine's profiles count for every user: an ordinary user watches the same devices.
    static func known(besides shipped: [String], in configuration: String, user: UInt32) -> [String] {
        let (machines, own) = (BridgePlaces.machine.configuration + "/Devices", configuration + "/Devices")
        return shipped + (user == 0 || own == machines ? [] : [machines]) + [own]
    }

    /// Loads what ``known(in:)`` names. Broken profiles are left out and reported.
    public static func load(_ folders: [String]) -> (library: ProfileLibrary, errors: [ConfigurationError]) {
        let reading = read(folders)
        let (library, errors) = ProfileLibrary.load(Array(reading.sources.values), shared: Array(reading.shared.values))
        return (library, reading.errors + errors)
    }

    /// Reads every `<folder>/<name>/profile.json5` of the folders that exist.
    /// - Parameter library: what was made of the reading before.
    static func read(_ folders: [String], after library: ProfileLibrary = ProfileLibrary()) -> Reading {
        var reading = Reading()
        // Shipped profiles are tested: their faults may wait until a device needs the profile.
        let tested = Set(chosen == nil ? shipped() : [])
        for folder in folders {
            let depth: ProfileLibrary.Reading = tested.contains(folder) ? .whenNeeded : .whole
            do throws(SystemError) {
                try BridgePlaces.check(folder)
                let place = try TrustedFolder(folder)
                for name in try place.names() where !examples.contains(name) {
                    if name == shared {
                        readShared(in: "\(folder)/\(shared)", depth, into: &reading)
                    } else {
                        read(name, in: (folder, place), depth, into: &reading)
                    }
                }
            } catch {
                guard !error.errno.isAbsence else { continue }
                reading.blindness.append(ConfigurationError(file: folder, error))
                for name in library.names(below: folder) {
                    reading.sources[name] = nil
                    reading.unreadable[name] = nil
                    reading.unseen.insert(name)
                }
            }
        }
        return reading
    }

    private static func read(
        _ name: String, in folder: (path: String, place: TrustedFolder), _ depth: ProfileLibrary.Reading,
        into reading: inout Reading
    ) {
        let (path, place) = ("\(name)/profile.json5", folder.place)
        let file = "\(folder.path)/\(path)"
        if depth == .whenNeeded {
            // A file that was changed in place has another time too.
            guard let changed = File.changeTime(of: file) else { return }
            reading.unreadable[name] = nil
            reading.unseen.remove(name)
            reading.sources[name] = ProfileLibrary.Source(
                name: name, file: file, edition: Int(truncatingIfNeeded: changed.microseconds)
            ) { () throws(ConfigurationError) in
                do throws(SystemError) { return try place.bytes(at: path, limit: 1 << 20) } catch {
                    throw ConfigurationError(file: file, error)
                }
            }
            return
        }
        do throws(SystemError) {
            let text = try place.bytes(at: path, limit: 1 << 20)
            reading.sources[name] = ProfileLibrary.Source(name: name, file: file, text: text)
            reading.unreadable[name] = nil
            reading.unseen.remove(name)
        } catch {
            guard !error.errno.isAbsence else { return }
            reading.sources[name] = nil
            reading.unseen.remove(name)
            reading.unreadable[name] = ConfigurationError(file: file, error)
        }
    }

    /// The profiles whose accessories a daemon opens: your own, and those shipped that a manifest watches.
    public static func inUse(
        of library: ProfileLibrary, in configuration: String = DaemonOptions().configurationDirectory
    ) -> [Profile] {
        let watched = watchedProfiles(in: configuration + "/handlers.d")
        return library.heads.filter { !$0.isShipped || watched.contains($0.name) }
            .compactMap { library.index(named: $0.name).map { library[$0] } }
    }

    /// The profiles that a folder's manifests name; an unreadable manifest names none.
    private static func watchedProfiles(in folder: String) -> Set<String> {
        let files = ((try? Directory.names(in: folder)) ?? []).filter { $0.hasSuffix(".json5") }
        let manifests = files.compactMap {
            try? JSONValue(json5: try File.plainBytes(at: "\(folder)/\($0)", limit: 1 << 20))
        }
        return Set(manifests.flatMap { ($0["watch"]?.array ?? []).compactMap { $0["profile"]?.string } })
    }

    /// The shared definitions that a profile in `folder` uses: those beside it, or else the shipped ones.
    public static func shared(beside folder: String) -> [SharedDefinition] {
        var reading = Reading()
        for place in shipped() { readShared(in: "\(place)/\(shared)", .whenNeeded, into: &reading) }
        readShared(in: "\(folder.parent)/\(shared)", .whole, into: &reading)
        return Array(reading.shared.values)
    }

    private static func readShared(
        in folder: String, _ depth: ProfileLibrary.Reading, into reading: inout Reading
    ) {
        guard let place = try? TrustedFolder(folder), let names = try? place.names() else { return }
        // A package is put in place by renaming, which changes the folder.
        let edition = Int(truncatingIfNeeded: File.changeTime(of: folder)?.microseconds ?? 0)
        for name in names where name.hasSuffix(".json5") {
            let (uuid, file) = (String(name.dropLast(6)), "\(folder)/\(name)")
            switch depth {
            case .whenNeeded:
                reading.shared[uuid] = SharedDefinition(name: uuid, file: file, edition: edition) {
                    try? place.bytes(at: name, limit: 1 << 20)
                }
            case .whole:
                do throws(SystemError) {
                    let text = try place.bytes(at: name, limit: 1 << 20)
                    reading.shared[uuid] = SharedDefinition(name: uuid, file: file, text: text)
                } catch { reading.blindness.append(ConfigurationError(file: file, error)) }
            }
        }
    }

    /// `WAKEBRIDGE_DEVICES` where set; otherwise what was installed beside this program, or the checkout it was built in.
    public static func shipped() -> [String] {
        if let chosen { return [chosen] }
        guard let program = programPath() else { return [] }
        var folder = program.parent
        let installed = folder.parent + "/share/wakebridge/Devices"
        if File.exists(installed) { return [installed] }
        while folder.count > 1 {
            if File.exists(folder + "/Devices/example") { return [folder + "/Devices"] }
            folder = folder.parent
        }
        return []
    }

    /// In place of what was installed: such profiles are taken as your own are.
    private static var chosen: String? { Environment.value(of: "WAKEBRIDGE_DEVICES") }

    private static func programPath() -> String? { try? File.linkTarget(of: "/proc/self/exe") }
}

extension ConfigurationError {
    /// The error of a file that cannot be read.
    init(file: String, _ error: SystemError) {
        self.init(file: file, sentence: error.description)
        isPassing = error.errno.isLackOfDescriptors
    }
}

extension Errno {
    /// True where no entry exists, or a file takes a folder's place: no profile.
    fileprivate var isAbsence: Bool { self == .noEntry || code == ENOTDIR }
}

extension String {
    /// The path without its last component.
    fileprivate var parent: String {
        guard let slash = lastIndex(of: "/") else { return "" }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
