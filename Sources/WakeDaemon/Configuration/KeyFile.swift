// `keys.json5` beside the configuration: the keys with which devices encrypt their data.
import WakeEngine
import WakeProfiles
import WakeSystem

enum KeyFile {
    /// No keys where there is no file. Where it cannot be read, those that were read before stay in force.
    static func read(in configuration: String) throws(ConfigurationErrors) -> DeviceKeys {
        let file = configuration + "/keys.json5"
        let text: [UInt8]
        do throws(SystemError) { text = try TrustedFile.bytes(at: file, limit: 1 << 20) } catch {
            guard error.errno != .noEntry else { return DeviceKeys() }
            throw ConfigurationErrors([ConfigurationError(file: file, error)])
        }
        return try DeviceKeys(text, file: file, mode: File.mode(of: file) ?? 0)
    }
}
