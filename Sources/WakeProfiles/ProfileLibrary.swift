// Every profile the bridge knows: found by name, matched to devices, and asked to decode.
import WakeModel

public struct ProfileLibrary: Sendable {
    /// One profile file, read by whoever does input and output.
    public struct Source: Sendable {
        /// The folder's name, which the profile must bear.
        public var name: String
        /// How errors name the file.
        public var file: String
        public var text: [UInt8]

        public init(name: String, file: String, text: [UInt8]) {
            self.name = name
            self.file = file
            self.text = text
        }
    }

    /// What has changed or gone stays where its index says: a device that is there goes on with it.
    private var profiles: [Profile] = []
    private var decoders: [ProfileDecoder] = []
    /// Those that devices get from now on.
    private var byName: [String: ProfileIndex] = [:]
    /// By name, the text that was read and where: what is read again is known to be the same.
    private var texts: [String: (hash: Int, file: String)] = [:]
    private var alphabetical: [ProfileIndex] = []
    /// The most particular first; equals by name, so that a device gets the same profile on every machine.
    private var matchOrder: [ProfileIndex] = []

    /// Knows nothing: every event is delivered raw.
    public init() {}

    /// What a reading brought, by name.
    public struct Changes: Sendable {
        /// New ones, and those that read otherwise.
        public var taken: [String] = []
        public var dropped: [String] = []
        public var errors: [ConfigurationError] = []

        public var isEmpty: Bool { taken.isEmpty && dropped.isEmpty }
    }

    /// Loads what can be loaded; a profile with a fault is left out and each fault is told.
    public static func load(_ sources: [Source]) -> (library: ProfileLibrary, errors: [ConfigurationError]) {
        var library = ProfileLibrary()
        let changes = library.take(sources)
        return (library, changes.errors)
    }

    /// Takes all that there is now in place of what was there. A profile with a fault is told and stays as it was, as do those
    /// of `kept`; indices that were given hold on.
    public mutating func take(_ sources: [Source], keeping kept: Set<String> = []) -> Changes {
        var changes = Changes()
        var present = kept
        for source in sources.sorted(by: { $0.name < $1.name }) {
            if present.insert(source.name).inserted {
                take(source, &changes)
            } else {
                let sentence = "a profile named \"\(source.name)\" is loaded already; rename one of the two"
                changes.errors.append(ConfigurationError(file: source.file, sentence: sentence))
            }
        }
        for name in byName.keys.sorted() where !present.contains(name) {
            byName[name] = nil
            texts[name] = nil
            changes.dropped.append(name)
        }
        if !changes.isEmpty { arrange() }
        return changes
    }

    private mutating func take(_ source: Source, _ changes: inout Changes) {
        let text = (hash: Self.hash(of: source.text), file: source.file)
        guard texts[source.name]?.hash != text.hash else {
            texts[source.name] = text
            return
        }
        do throws(ConfigurationErrors) {
            add(try ProfileDocument.read(source.text, folder: source.name, file: source.file))
            texts[source.name] = text
            changes.taken.append(source.name)
        } catch { changes.errors += error.all }
    }

    /// Eight bytes at a time: byte by byte the hashes of all texts would take longer than reading them.
    private static func hash(of text: [UInt8]) -> Int {
        var hasher = Hasher()
        hasher.combine(text.count)
        for start in stride(from: 0, to: text.count, by: 8) {
            var word: UInt64 = 0
            for byte in text[start..<min(start + 8, text.count)] { word = word << 8 | UInt64(byte) }
            hasher.combine(word)
        }
        return hasher.finalize()
    }

    private mutating func add(_ profile: Profile) {
        byName[profile.name] = ProfileIndex(rawValue: profiles.count)
        profiles.append(profile)
        decoders.append(ProfileDecoder(profile))
    }

    private mutating func arrange() {
        alphabetical = byName.sorted { $0.key < $1.key }.map(\.value)
        matchOrder = alphabetical.sorted {
            let (left, right) = (self[$0], self[$1])
            return (right.match.weight, left.name) < (left.match.weight, right.name)
        }
    }

    /// The profile at an index that this library gave.
    public subscript(index: ProfileIndex) -> Profile { profiles[index.rawValue] }

    /// In alphabetical order.
    public var names: [String] { all.map(\.name) }
    public var all: [Profile] { alphabetical.map { self[$0] } }
    /// Those whose text lay below this folder.
    public func names(below folder: String) -> [String] {
        texts.filter { $0.value.file.hasPrefix(folder + "/") }.keys.sorted()
    }
    public func name(_ index: ProfileIndex) -> String { self[index].name }
    public func index(named name: String) -> ProfileIndex? { byName[name] }

    /// The most particular profile that fits a device; `properties` are those of udev (ID_VENDOR_ID and its like).
    public func match(
        mode: DeviceMode, services: [BluetoothUUID] = [], name: String? = nil, properties: [(String, String)] = []
    ) -> ProfileIndex? {
        let services = Set(services)
        return matchOrder.first { index in
            self[index].mode == mode && self[index].matches(services: services, name: name, properties: properties)
        }
    }

    /// The most particular accessory profile that fits a device of udev and is taken by `isFitting` for it.
    public func matchAccessory(
        properties: [String: String], where isFitting: (Profile) -> Bool
    ) -> ProfileIndex? {
        matchOrder.first { index in
            let profile = self[index]
            return profile.mode == .externalAccessory && isFitting(profile)
                && profile.match.properties.allSatisfy { properties[$0.name] == $0.value }
        }
    }

    /// What makes values of the profile's bytes, for whoever asks with every event.
    public func decoder(_ index: ProfileIndex) -> ProfileDecoder { decoders[index.rawValue] }
}
