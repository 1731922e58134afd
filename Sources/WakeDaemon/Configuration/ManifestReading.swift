// A manifest as far as it can be read, with everything that is wrong with it, found in one pass.
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

struct ManifestReading {
    private(set) var manifest: HandlerManifest
    /// All faults in the order of their lines; those without a line come first.
    private(set) var faults: [ConfigurationError]
    /// The keys with faults of their own; what else depends on them is not judged.
    let brokenKeys: Set<String>
    private let text: [UInt8]

    /// Every part is judged as far as the others can be read, so that one look shows all faults.
    /// - Parameters:
    ///   - file: its absolute path.
    ///   - isRoot: the daemon that is to take it runs as root.
    init(
        of file: String, id: String, text: [UInt8], isRoot: Bool, defaults: HandlerTimers = HandlerTimers(),
        _ profiles: ProfileLibrary, _ accounts: AccountBook
    ) {
        let report = ConfigurationReport(file: file)
        manifest = HandlerManifest(id: id, text: text, isRoot: isRoot, defaults: defaults, report: report)
        brokenKeys = Set(report.errors.compactMap { $0.place?.key })
        self.text = text
        faults = report.errors
        guard isWellFormed else { return }
        var found = manifest.faults(against: profiles, knowsModes: !brokenKeys.contains("modes"))
        // No user is found for a name that cannot be a handler's.
        if !brokenKeys.contains("user"), HandlerManifest.isIdentifier(id) {
            found += manifest.faultsOfAccount(accounts, isRoot: isRoot)
        }
        manifest.exec = manifest.command(in: File.parent(of: file))
        add(found)
    }

    /// Whether the text is JSON5: otherwise its one fault hides all others.
    var isWellFormed: Bool { (try? JSONValue(json5: text)) != nil }

    /// Takes faults that were found in what could be read.
    mutating func add(_ found: [ConfigurationError]) {
        faults = ConfigurationErrors(faults + found).located(in: text).all.inOrderOfLines
    }
}

extension [ConfigurationError] {
    fileprivate var inOrderOfLines: [ConfigurationError] {
        enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
    }
}
