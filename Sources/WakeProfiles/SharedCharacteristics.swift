// Definitions of characteristics that many devices have: each is written once, in a file of its own.
import WakeModel

/// A characteristic, as its file in `Devices/gatt` defines it.
public struct SharedDefinition: Sendable {
    /// The characteristic's UUID, which the file is named by.
    public var name: String
    /// The file's name in error sentences.
    public var file: String
    /// Another one where the text may be another.
    var edition: Int
    /// Whether its faults are reported when profiles are loaded, and not when a profile takes it.
    var isReadAtOnce: Bool
    private var read: @Sendable () -> [UInt8]?
    /// Nil where the file cannot be read any more.
    public var text: [UInt8]? { read() }

    public init(name: String, file: String, text: [UInt8]) {
        (self.name, self.file) = (name, file)
        edition = ProfileLibrary.hash(of: text)
        isReadAtOnce = true
        read = { text }
    }

    /// A definition that came with the program: it is read when a profile takes it.
    public init(name: String, file: String, edition: Int, read: @escaping @Sendable () -> [UInt8]?) {
        (self.name, self.file, self.edition, self.read) = (name, file, edition, read)
        isReadAtOnce = false
    }
}

/// All of them, by the characteristic's UUID.
struct SharedCharacteristics: Sendable {
    static let none = SharedCharacteristics([])

    private var definitions: [BluetoothUUID: SharedDefinition] = [:]
    /// Definitions whose names are no UUIDs.
    private var strangers: [SharedDefinition] = []
    /// The hash of all editions: a profile that takes a changed definition has changed too.
    let hash: Int

    init(_ definitions: [SharedDefinition]) {
        var hasher = Hasher()
        for definition in definitions.sorted(by: { $0.name < $1.name }) {
            hasher.combine(definition.name)
            hasher.combine(definition.edition)
            if let uuid = BluetoothUUID(definition.name) {
                self.definitions[uuid] = definition
            } else {
                strangers.append(definition)
            }
        }
        hash = definitions.isEmpty ? 0 : hasher.finalize()
    }

    /// Every fault of the files that are read at once.
    var faults: [ConfigurationError] {
        (Array(definitions.values) + strangers).filter(\.isReadAtOnce).sorted { $0.file < $1.file }
            .flatMap { definition -> [ConfigurationError] in
                let (report, text) = (ConfigurationReport(file: definition.file), definition.text ?? [])
                _ = Self.profile(with: definition, text, report)
                return ConfigurationErrors(report.errors).located(in: text).all
            }
    }

    /// Its name, program and framing, as the only ones of a profile; nil where there is none, or it has a fault.
    fileprivate func definition(of uuid: BluetoothUUID) -> Profile? {
        guard let definition = definitions[uuid], let text = definition.text else { return nil }
        let report = ConfigurationReport(file: definition.file)
        let profile = Self.profile(with: definition, text, report)
        return report.errors.isEmpty ? profile : nil
    }

    private static func profile(
        with definition: SharedDefinition, _ text: [UInt8], _ report: ConfigurationReport
    ) -> Profile? {
        guard let uuid = BluetoothUUID(definition.name) else {
            report.add("its name is no Bluetooth UUID; call it as the characteristic, such as 2a19.json5")
            return nil
        }
        guard
            let entry = ConfigurationObject(
                document: text, keys: ProfileDocument.channelKeys, required: ["name"], report: report)
        else { return nil }
        var profile = Profile(
            name: definition.name, title: definition.name, kind: .bluetoothCentral, match: .init(), notify: [],
            readAtConnect: [], accessory: nil, channelNames: [:], programs: [], advertisement: AdvertisementProgram())
        ProfileDocument.read(entry, of: .characteristic(uuid), into: &profile)
        return profile
    }
}

extension Profile {
    /// Takes the shared definition of each characteristic that is listed and has none of the profile's own.
    mutating func takeShared(_ shared: SharedCharacteristics) {
        for uuid in notify + readAtConnect where channelNames[.characteristic(uuid)] == nil {
            guard let definition = shared.definition(of: uuid) else { continue }
            channelNames.merge(definition.channelNames) { own, _ in own }
            programs += definition.programs
            framings += definition.framings
        }
    }
}
