// How a broker is reached, as `wakebridge.json5` says it for this bridge's own topics and for those of other bridges.
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

public struct BrokerSettings: Hashable, Sendable {
    public var address: BrokerAddress
    public var user: String?
    /// Its first line is the password.
    public var passwordFile: String?
    /// PEM files.
    public var certificateAuthority: String?
    public var certificate: String?
    public var key: String?
    /// What all topics begin with.
    public var base = "wakebridge"

    static let keys = ["broker", "user", "password_file", "certificate_authority", "certificate", "key", "base"]

    /// Nil where the broker is not named well enough.
    init?(_ object: ConfigurationObject) {
        guard let text = object.text("broker") else { return nil }
        guard let address = BrokerAddress(text) else {
            object.refuse("broker", expected: "an address such as \"mqtt://host:1883\" or \"mqtts://host:8883\"")
            return nil
        }
        self.address = address
        user = object.text("user")
        passwordFile = Self.path("password_file", object)
        certificateAuthority = Self.path("certificate_authority", object)
        certificate = Self.path("certificate", object)
        key = Self.path("key", object)
        base = object.text("base") ?? base
        if !Self.isTopic(base) {
            object.refuse("base", expected: "a topic such as \"wakebridge\", without '+', '#' or a '/' at an end")
        }
    }

    private static func path(_ name: String, _ object: ConfigurationObject) -> String? {
        guard let path = object.text(name) else { return nil }
        if !path.hasPrefix("/") { object.refuse(name, expected: "an absolute path") }
        return path
    }

    private static func isTopic(_ text: String) -> Bool {
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        return !text.hasPrefix("$") && text.utf8.count <= 256 && levels.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && !"+#".utf8.contains($0) }
    }

    /// Reads the password.
    public func options(clientIdentifier: String) throws(SystemError) -> MQTTOptions {
        var options = MQTTOptions(broker: address, clientIdentifier: clientIdentifier)
        options.user = user
        options.password = try passwordFile.map { file throws(SystemError) in
            let text = String(decoding: try File.bytes(at: file, limit: 4_096), as: UTF8.self)
            return String(text.prefix { $0 != "\n" })
        }
        options.certificateAuthority = certificateAuthority
        options.certificate = certificate
        options.key = key
        return options
    }
}
