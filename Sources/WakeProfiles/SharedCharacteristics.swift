// Definitions of characteristics that many devices have: each is written once, in a file of its own.
import WakeModel

/// The files `Devices/gatt/XXXX.json5`, by the characteristic's UUID.
struct SharedCharacteristics: Sendable {
    static let none = SharedCharacteristics([])

    private var sources: [BluetoothUUID: ProfileLibrary.Source] = [:]
    /// Of all texts: a profile that takes one has changed where one has.
    let hash: Int

    /// - Parameter sources: named by UUID.
    init(_ sources: [ProfileLibrary.Source]) {
        var hasher = Hasher()
        for source in sources.sorted(by: { $0.name < $1.name }) {
            hasher.combine(source.name)
            hasher.combine(ProfileLibrary.hash(of: source.text))
            if let uuid = BluetoothUUID(source.name) { self.sources[uuid] = source }
        }
        hash = sources.isEmpty ? 0 : hasher.finalize()
    }

    /// Every fault of every file.
    var faults: [ConfigurationError] {
        sources.values.filter { $0.reading == .whole }.sorted { $0.file < $1.file }.flatMap {
            source -> [ConfigurationError] in
            let report = ConfigurationReport(file: source.file)
            _ = Self.profile(with: source, report)
            return ConfigurationErrors(report.errors).located(in: source.text).all
        }
    }

    /// Its name, program and framing, as the only ones of a profile; nil where there is none, or it has a fault.
    fileprivate func definition(of uuid: BluetoothUUID) -> Profile? {
        sources[uuid].flatMap { source in
            let report = ConfigurationReport(file: source.file)
            let profile = Self.profile(with: source, report)
            return report.errors.isEmpty ? profile : nil
        }
    }

    private static func profile(with source: ProfileLibrary.Source, _ report: ConfigurationReport) -> Profile? {
        guard let uuid = BluetoothUUID(source.name) else {
            report.add("its name is no Bluetooth UUID; call it as the characteristic, such as 2a19.json5")
            return nil
        }
        guard
            let entry = ConfigurationObject(
                document: source.text, keys: ProfileDocument.channelKeys, required: ["name"], report: report)
        else { return nil }
        var profile = Profile(
            name: source.name, title: source.name, kind: .bluetoothCentral, match: .init(), notify: [],
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
