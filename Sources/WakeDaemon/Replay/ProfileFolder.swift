// Where device profiles lie on disk, and reading them: the shipped ones first, then those an operator adds.
import Glibc
import WakeProfiles
import WakeSystem

public enum ProfileFolder {
    /// They explain keys to people, and are for no device.
    private static let examples = ["example", "example-accessory"]

    /// Reads every `<folder>/<name>/profile.json5` of the folders that exist; a later folder's profile replaces an earlier
    /// one of the same name. Broken profiles are left out and told.
    public static func load(_ folders: [String]) -> (library: ProfileLibrary, errors: [ConfigurationError]) {
        var sources: [String: ProfileLibrary.Source] = [:]
        for folder in folders {
            for name in (try? Directory.names(in: folder)) ?? [] where !examples.contains(name) {
                let file = "\(folder)/\(name)/profile.json5"
                guard let text = try? File.bytes(at: file, limit: 1 << 20) else { continue }
                sources[name] = ProfileLibrary.Source(name: name, file: file, text: text)
            }
        }
        return ProfileLibrary.load(sources.values.sorted { $0.name < $1.name })
    }

    /// `WAKEBRIDGE_DEVICES` where set; otherwise what was installed beside this program, or the checkout it was built in.
    public static func shipped() -> [String] {
        if let chosen = environment("WAKEBRIDGE_DEVICES") { return [chosen] }
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

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func programPath() -> String? { try? File.linkTarget(of: "/proc/self/exe") }
}

extension String {
    /// The path without its last component.
    fileprivate var parent: String {
        guard let slash = lastIndex(of: "/") else { return "" }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
