// Checks one configuration file with the daemon's own readers, before a daemon adopts it.
import Glibc
import WakeAPI
import WakeControl
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

public struct ConfigurationCheck {
    public enum Kind: String {
        case manifest
        case profile
        case settings
    }

    public let kind: Kind
    public private(set) var faults: [ConfigurationError] = []
    /// The devices that a manifest names, each as its aliases and sources are known elsewhere.
    public private(set) var manifest: HandlerManifest?
    /// Decodes the profile's data; nil for a profile with faults, and for other files.
    public private(set) var decoder: ProfileDecoder?
    /// Nil for a profile with faults, and for other files.
    public private(set) var profile: Profile?
    private let file: String

    /// - Parameters:
    ///   - text: the whole file.
    ///   - isRoot: the daemon that is to take it runs as root.
    public init(of file: String, text: [UInt8], isRoot: Bool, profiles: ProfileLibrary) {
        self.file = file
        kind = Self.kind(of: file, text)
        switch kind {
        case .manifest: checkManifest(text, isRoot: isRoot, profiles)
        case .profile: checkProfile(text)
        case .settings:
            collect(text) { () throws(ConfigurationErrors) in _ = try BridgeSettings(text: text, file: file) }
        }
    }

    /// By what only one kind has; by its name where the text cannot be read.
    private static func kind(of file: String, _ text: [UInt8]) -> Kind {
        let name = file.split(separator: "/").last ?? ""
        if name == "wakebridge.json5" { return .settings }
        guard let document = try? JSONValue(json5: text) else { return name == "profile.json5" ? .profile : .manifest }
        if document["exec"] != nil || document["watch"] != nil { return .manifest }
        return document["match"] != nil || document["mode"] != nil || name == "profile.json5" ? .profile : .manifest
    }

    private mutating func collect(_ text: [UInt8], _ body: () throws(ConfigurationErrors) -> Void) {
        do throws(ConfigurationErrors) { try body() } catch { faults += error.located(in: text).all }
    }

    private mutating func checkProfile(_ text: [UInt8]) {
        // A profile's name must be its folder's; a file elsewhere keeps its own name until it is in place.
        let folder = file.split(separator: "/").dropLast().last.map(String.init)
        let own = (try? JSONValue(json5: text))?["name"]?.string
        let isInPlace = file.hasSuffix("/profile.json5")
        let name = (isInPlace ? folder : own) ?? own ?? "profile"
        let (library, errors) = ProfileLibrary.load(
            [ProfileLibrary.Source(name: name, file: file, text: text)],
            shared: ProfileFolder.shared(beside: File.parent(of: file)))
        faults += errors
        decoder = library.index(named: name).map { library.decoder($0) }
        profile = library.index(named: name).map { library[$0] }
    }

    private mutating func checkManifest(_ text: [UInt8], isRoot: Bool, _ profiles: ProfileLibrary) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let accounts = AccountBook.withoutPlaces()
        var reading = ManifestReading(
            of: file, id: HandlerManifest.identifier(ofFile: name) ?? name, text: text, isRoot: isRoot, profiles,
            accounts)
        if reading.isWellFormed {
            manifest = reading.manifest
            if reading.brokenKeys.isDisjoint(with: ["exec", "cwd"]) {
                reading.add(faultsOfProgram(reading.manifest, accounts, isRoot: isRoot))
            }
        }
        faults += reading.faults
    }

    private func faultsOfProgram(
        _ manifest: HandlerManifest, _ accounts: AccountBook, isRoot: Bool
    ) -> [ConfigurationError] {
        let state = (isRoot ? BridgePlaces.machine : .mine).state
        // Missing files can be found even for an account that does not exist.
        guard let account = (try? accounts.account(of: manifest) ?? accounts.current()) ?? (try? accounts.current()),
            let found = ManifestWarnings.obstacle(to: manifest, account, stateDirectory: state)
        else { return [] }
        let sentence = "\(found.obstacle.reason(for: account.name)); \(found.obstacle.advice)"
        return [ConfigurationError(file: file, sentence: sentence, place: .key(found.key))]
    }

    /// Devices that a manifest names and that are not among those that are known.
    /// - Parameter known: the alias and the source of each.
    public func warnings(knowing known: [(alias: String, source: String)]) -> [String] {
        guard let manifest else { return [] }
        return ManifestWarnings.ofUnknownDevices([manifest], known: known).map(\.sentence)
    }

    /// Paths and time zones that a manifest names and that are not there.
    public var warningsOfPlaces: [String] {
        manifest.map { ManifestWarnings.ofAbsentPlaces($0).map(\.sentence) } ?? []
    }
}
