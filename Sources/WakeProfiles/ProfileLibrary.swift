// Every profile that the bridge knows: finds them by name, matches them to devices, and decodes with them.
import WakeModel

public struct ProfileLibrary: Sendable {
    /// A profile file.
    public struct Source: Sendable {
        /// The folder's name, which the profile must have.
        public var name: String
        /// The file's name in error sentences.
        public var file: String
        public var reading: Reading
        /// Another one where the text may be another.
        var edition: Int
        private var read: @Sendable () throws(ConfigurationError) -> [UInt8]

        /// Read by the caller.
        public init(name: String, file: String, text: [UInt8], reading: Reading = .whole) {
            (self.name, self.file, self.reading) = (name, file, reading)
            edition = ProfileLibrary.hash(of: text)
            read = { text }
        }

        /// A file that came with the program: it is read when it is new, and when a device needs it.
        public init(
            name: String, file: String, edition: Int,
            read: @escaping @Sendable () throws(ConfigurationError) -> [UInt8]
        ) {
            (self.name, self.file, self.reading) = (name, file, .whenNeeded)
            (self.edition, self.read) = (edition, read)
        }

        public func text() throws(ConfigurationErrors) -> [UInt8] {
            do throws(ConfigurationError) { return try read() } catch { throw ConfigurationErrors([error]) }
        }
    }

    /// Changed and removed profiles keep their index: devices that are present go on with them.
    private var entries: [ProfileEntry] = []
    /// The profiles that devices get from now on.
    private var byName: [String: ProfileIndex] = [:]
    /// The text and place of each profile, by name, so that an unchanged file is recognised.
    private var texts: [String: (hash: Int, file: String)] = [:]
    private var alphabetical: [ProfileIndex] = []
    /// The most specific first, and last those that give way; equals by name, so that a device gets the same profile on every machine.
    private var matchOrder: [ProfileIndex] = []

    /// Has no profiles: every event is delivered raw.
    public init() {}

    /// The changes of a load, by name.
    public struct Changes: Sendable {
        /// New profiles, and changed ones.
        public var updated: [String] = []
        public var dropped: [String] = []
        public var errors: [ConfigurationError] = []

        public var isEmpty: Bool { updated.isEmpty && dropped.isEmpty }
    }

    /// How much of a profile is read when it is loaded.
    public enum Reading: Sendable {
        /// All of it: every fault is reported, and a profile that has one is left out.
        case whole
        /// The head only. The rest is read when a device needs it; see ``lateFaults(of:)``.
        case whenNeeded
    }

    /// Loads the profiles; leaves out one with a fault, and reports each fault.
    /// - Parameter shared: definitions of characteristics, named by UUID.
    public static func load(
        _ sources: [Source], shared: [SharedDefinition] = []
    ) -> (library: ProfileLibrary, errors: [ConfigurationError]) {
        var library = ProfileLibrary()
        let changes = library.update(with: sources, shared: shared)
        return (library, changes.errors)
    }

    /// Faults that came to light when a device needed the rest of a profile: the device's bytes are raw.
    public func lateFaults(of index: ProfileIndex) -> [ConfigurationError] { entries[index.rawValue].faults }

    /// Replaces all profiles. A profile with a fault is reported and stays as it was, and so do those of `kept`.
    /// Indices that were given stay valid.
    public mutating func update(
        with sources: [Source], shared definitions: [SharedDefinition] = [], keeping kept: Set<String> = []
    ) -> Changes {
        let shared = SharedCharacteristics(definitions)
        var changes = Changes()
        changes.errors = shared.faults
        var present = kept
        for source in sources.sorted(by: { $0.name < $1.name }) {
            if present.insert(source.name).inserted {
                load(source, shared, &changes)
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

    private mutating func load(_ source: Source, _ shared: SharedCharacteristics, _ changes: inout Changes) {
        let text = (hash: source.edition ^ shared.hash, file: source.file)
        guard texts[source.name]?.hash != text.hash else {
            texts[source.name] = text
            return
        }
        do throws(ConfigurationErrors) {
            add(try Self.entry(of: source, shared))
            texts[source.name] = text
            changes.updated.append(source.name)
        } catch { changes.errors += error.all }
    }

    private static func entry(
        of source: Source, _ shared: SharedCharacteristics
    ) throws(ConfigurationErrors) -> ProfileEntry {
        let text = try source.text()
        do throws(ConfigurationErrors) {
            if source.reading == .whenNeeded, let head = try ProfileSkimmer.head(of: source, text) {
                return ProfileEntry(head, of: source, shared)
            }
            return ProfileEntry(
                whole: try ProfileDocument.read(text, folder: source.name, file: source.file, shared: shared),
                isShipped: source.reading == .whenNeeded)
        } catch { throw error.located(in: text) }
    }

    /// Hashes eight bytes at a time: byte by byte, hashing would take longer than reading the texts.
    static func hash(of text: [UInt8]) -> Int {
        var hasher = Hasher()
        hasher.combine(text.count)
        for start in stride(from: 0, to: text.count, by: 8) {
            var word: UInt64 = 0
            for byte in text[start..<min(start + 8, text.count)] { word = word << 8 | UInt64(byte) }
            hasher.combine(word)
        }
        return hasher.finalize()
    }

    private mutating func add(_ entry: ProfileEntry) {
        byName[entry.head.name] = ProfileIndex(rawValue: entries.count)
        entries.append(entry)
    }

    private mutating func arrange() {
        alphabetical = byName.sorted { $0.key < $1.key }.map(\.value)
        matchOrder = alphabetical.sorted {
            let (left, right) = (head($0), head($1))
            if left.match.givesWay != right.match.givesWay { return right.match.givesWay }
            return (right.match.weight, left.name) < (left.match.weight, right.name)
        }
    }

    /// The profile at an index of this library, read whole.
    public subscript(index: ProfileIndex) -> Profile { entries[index.rawValue].profile }

    /// The head that devices are matched against, without reading the rest.
    public func head(_ index: ProfileIndex) -> ProfileHead { entries[index.rawValue].head }
    public var heads: [ProfileHead] { alphabetical.map { head($0) } }

    /// All names, in alphabetical order.
    public var names: [String] { heads.map(\.name) }
    /// All of them, read whole.
    public var all: [Profile] { alphabetical.map { self[$0] } }
    /// The profiles whose files are below this folder.
    public func names(below folder: String) -> [String] {
        texts.filter { $0.value.file.hasPrefix(folder + "/") }.keys.sorted()
    }
    public func name(_ index: ProfileIndex) -> String { head(index).name }
    public func index(named name: String) -> ProfileIndex? { byName[name] }

    /// The udev property by which an owner's rule names the profile of a node, whatever chip the device is behind.
    public static let ownersChoice = "WAKEBRIDGE_DEVICE"

    /// The profile that the owner's udev rule names, if it is one of accessories.
    private func chosen(_ name: String?) -> ProfileIndex? {
        name.flatMap { index(named: $0) }.flatMap { head($0).kind == .externalAccessory ? $0 : nil }
    }

    /// The profile that the owner's udev rule names, else the most specific one that matches a device.
    /// - Parameters:
    ///   - properties: those of udev, such as ID_VENDOR_ID.
    ///   - advertisement: what the device broadcasts, as AD structures.
    public func match(
        kind: SourceKind, services: [BluetoothUUID] = [], name: String? = nil, properties: [(String, String)] = [],
        advertisement: [UInt8]? = nil, where isWanted: (ProfileHead) -> Bool = { _ in true }
    ) -> ProfileIndex? {
        if kind == .externalAccessory, let index = chosen(properties.first { $0.0 == Self.ownersChoice }?.1),
            isWanted(head(index))
        {
            return index
        }
        let services = Set(services)
        return matchOrder.first {
            isWanted(head($0))
                && fits($0, kind, services: services, name: name, properties: properties, advertisement: advertisement)
        }
    }

    /// The profiles that match a device and are as particular as the one that it gets. In a library without rivals it
    /// is that one alone.
    public func rivals(
        kind: SourceKind, services: [BluetoothUUID] = [], name: String? = nil, properties: [(String, String)] = [],
        advertisement: [UInt8]? = nil
    ) -> [ProfileIndex] {
        let services = Set(services)
        let fitting = matchOrder.filter {
            fits($0, kind, services: services, name: name, properties: properties, advertisement: advertisement)
        }
        guard let best = fitting.first.map({ head($0).match }) else { return [] }
        return fitting.filter { head($0).match.weight == best.weight && head($0).match.givesWay == best.givesWay }
    }

    private func fits(
        _ index: ProfileIndex, _ kind: SourceKind, services: Set<BluetoothUUID>, name: String?,
        properties: [(String, String)], advertisement: [UInt8]?
    ) -> Bool {
        let head = head(index)
        return head.kind == kind
            && head.match.fits(services: services, name: name, properties: properties, advertisement: advertisement)
    }

    /// The profile that the owner's udev rule names, else the most specific one that matches a udev device. `isFitting` accepts it.
    public func matchAccessory(
        properties: [String: String], where isFitting: (ProfileHead) -> Bool
    ) -> ProfileIndex? {
        if let index = chosen(properties[Self.ownersChoice]), isFitting(head(index)) { return index }
        return matchOrder.first { index in
            let head = head(index)
            return head.kind == .externalAccessory && isFitting(head)
                && head.match.properties.allSatisfy { wanted in
                    properties[wanted.name].map(wanted.values.contains) ?? false
                }
        }
    }

    /// A device of a recording as event lines show it; one without an alias is called by its profile and the end of its address.
    public func device(
        _ kind: SourceKind, uri: String, address: String, alias: String?, services: [BluetoothUUID], name: String?,
        properties: [(String, String)], advertisement: [UInt8] = []
    ) -> Device {
        let match = match(
            kind: kind, services: services, name: name, properties: properties, advertisement: advertisement)
        let profile = match.map { self.name($0) }
        let tail = address.filter { $0 != ":" }.suffix(4).lowercased()
        return Device(uri: uri, alias: alias ?? "\(profile ?? "device")-\(tail)", profile: profile, kind: kind)
    }

    /// The decoder of the profile, for callers that decode every event.
    public func decoder(_ index: ProfileIndex) -> ProfileDecoder { entries[index.rawValue].decoder }
}
