// Everything that is wrong with profiles, manifests and settings as they were read last.
import WakeControl
import WakeEngine
import WakeModel
import WakeProfiles

struct ConfigurationFaults {
    /// Faults of profiles, and of the keys of devices.
    var ofProfiles: [ConfigurationError] = []
    /// Faults of wakebridge.json5; none of a file that cannot be opened.
    var ofSettings: [ConfigurationError] = []
    /// Each file that is not taken as it is, until it is mended or gone.
    private(set) var refusals: [BridgeWarning] = []

    /// Sentences about profiles and manifests. A manifest stays taken when a profile that it names goes; one that was changed
    /// since may be refused for the same.
    func sentences(_ manifests: ManifestFolder, _ catalog: Catalog) -> [String] {
        let read = ofProfiles.map(\.description) + manifests.faults
        let late = manifests.located(catalog.faultsOfManifests).map(\.description)
        return read + late.filter { !read.contains($0) }
    }

    /// Finds the refused files again, after files were read or handlers came and went.
    mutating func renew(_ manifests: ManifestFolder, _ catalog: Catalog) {
        let late = Dictionary(grouping: manifests.located(catalog.faultsOfManifests)) { $0.handler ?? "" }
        let ofManifests = manifests.refused.merging(late) { refused, _ in refused }.sorted { $0.key < $1.key }
        let settings = RefusalWarnings.ofSettings(ofSettings, isRunning: true)
        refusals =
            (settings.map { [$0] } ?? []) + RefusalWarnings.ofProfiles(ofProfiles)
            + ofManifests.compactMap { id, faults in
                RefusalWarnings.ofManifest(id, faults, isFormerInForce: catalog.isConfigured(id))
            }
    }
}
