// The directories that a command line names in place of a user's own: a configuration, and profiles beside the known ones.
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeProfiles
import WakeSystem

struct NamedPlaces: Hashable {
    static let configFlag = Flag(
        "config", short: "c", value: "DIR", "the configuration directory of a daemon that was started with another one")
    static let profilesFlag = Flag(
        "profiles", short: "P", value: "DIR", "also the profiles in DIR, in place of others of the same names")
    static let flags = [configFlag, profilesFlag]

    /// Nil for the configuration directory of this user.
    private let named: String?
    private let profiles: String?

    /// - Parameter words: of a verb that takes one of the flags, or both.
    init(_ words: ParsedArguments) throws(Complaint) {
        do throws(SystemError) {
            named = try words.value("config").map { word throws(SystemError) in try File.absolute(word) }
            profiles = try words.value("profiles").map { word throws(SystemError) in try File.absolute(word) }
        } catch { throw .failure("cannot find the directory: \(error.description)") }
        for (option, folder) in [("config", named), ("profiles", profiles)] {
            guard let folder, !File.exists(folder) else { continue }
            throw .usage("--\(option) '\(folder.printable)' is not there; name a directory that is")
        }
    }

    private init() { (named, profiles) = (nil, nil) }

    /// The places of this user.
    static let own = NamedPlaces()

    /// Whether another configuration is named than this user's own.
    var isNamed: Bool { named != nil }
    var configuration: String { named ?? BridgePlaces.mine.configuration }
    var manifests: String { configuration + "/handlers.d" }
    var settingsFile: String { configuration + "/wakebridge.json5" }

    /// The profiles that a daemon of these places would load. Prints the faults of profiles that cannot be read.
    var library: ProfileLibrary {
        let folders = ProfileFolder.known(in: configuration) + [profiles].compactMap { $0 }
        let (library, errors) = ProfileFolder.load(folders)
        for error in errors { Console.say("warning: \(error.description)") }
        return library
    }
}
