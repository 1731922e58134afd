// Warnings about files of the configuration that are not taken: manifests, profiles, keys and settings.
import WakeControl
import WakeModel
import WakeProfiles

enum RefusalWarnings {
    /// - Parameters:
    ///   - id: of the handler; empty for the folder of all manifests.
    ///   - faults: never empty, the first one first.
    ///   - isFormerInForce: an earlier text of the file was taken, and its handler goes on by that.
    static func ofManifest(_ id: String, _ faults: [ConfigurationError], isFormerInForce: Bool) -> BridgeWarning? {
        let subject = id.isEmpty ? "the folder of manifests" : "the manifest of handler \"\(id)\""
        let consequence = isFormerInForce ? "the manifest from before stays in force" : "the handler does not run"
        return warning(
            subject, code: .manifestRefused, of: id.isEmpty ? nil : id, faults, isFormerInForce: isFormerInForce,
            why: id.isEmpty ? "no change of a manifest is taken" : consequence)
    }

    /// Makes one for each file.
    static func ofProfiles(_ faults: [ConfigurationError]) -> [BridgeWarning] {
        Dictionary(grouping: faults, by: \.file).sorted { $0.key < $1.key }.compactMap { file, faults in
            warning(
                lastNames(of: file), code: .profileRefused, faults, isFormerInForce: false,
                why: "what it describes is taken as it was before, or not at all")
        }
    }

    /// - Parameter isRunning: whether a daemon runs, which goes on with the settings from before.
    static func ofSettings(_ faults: [ConfigurationError], isRunning: Bool) -> BridgeWarning? {
        warning(
            "wakebridge.json5", code: .settingsRefused, faults, isFormerInForce: isRunning,
            why: isRunning
                ? "the settings from before stay in force, and wakebridged does not start again"
                : "wakebridged does not start")
    }

    private static func warning(
        _ subject: String, code: BridgeWarning.Code, of handler: String? = nil, _ faults: [ConfigurationError],
        isFormerInForce: Bool, why: String
    ) -> BridgeWarning? {
        guard let first = faults.first else { return nil }
        return BridgeWarning(
            "\(subject) is refused for \(faults.count.counted("fault"))", code: code, of: handler, why: why,
            // A file that cannot be read is named in the sentence about that.
            advice: first.sentence.contains(first.file)
                ? "mend this: \(first.sentence)" : "correct \(first.description)",
            refusal: RefusedFile(
                file: first.file, line: first.line, fault: first.sentence, more: faults.count - 1,
                isFormerInForce: isFormerInForce))
    }

    /// `strap/profile.json5`: its folder names the profile.
    private static func lastNames(of file: String) -> String {
        file.split(separator: "/").suffix(2).joined(separator: "/")
    }
}
