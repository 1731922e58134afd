// The settings that a daemon of this user has, each with where it comes from, and the directories in use.
import WakeEngine
import WakeProfiles
import WakeSystem

public struct SettingsInForce {
    public struct Row: Hashable {
        public let key: String
        public let value: String?
        /// The file names it; else it is the default.
        public let isSet: Bool
    }

    public let file: String
    /// Whether the file is there.
    public let isThere: Bool
    public let rows: [Row]
    public let directories: [(name: String, path: String)]

    /// Throws what is wrong with the file.
    /// - Parameter configuration: another directory than this user's own.
    public init(in configuration: String? = nil) throws {
        var places = BridgePlaces.mine
        if let configuration { places.configuration = configuration }
        file = places.configuration + "/wakebridge.json5"
        isThere = File.exists(file)
        let text = isThere ? try TrustedFile.bytes(at: file, limit: 1 << 20) : Array("{}".utf8)
        var settings = BridgeSettings()
        do throws(ConfigurationErrors) { settings = try BridgeSettings(text: text, file: file) } catch {
            throw error.located(in: text)
        }
        let set = BridgeSettings.keysSet(in: text)
        rows = settings.entries.map { Row(key: $0.key, value: $0.value, isSet: set.contains($0.key)) }
        directories =
            [("configuration", places.configuration), ("manifests", places.configuration + "/handlers.d")]
            + ProfileFolder.known(in: places.configuration).map { ("profiles", $0) }
            + [("state", places.state), ("runtime", places.runtime), ("control socket", places.controlSocket)]
    }
}
