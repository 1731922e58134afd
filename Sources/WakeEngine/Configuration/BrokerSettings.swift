// The connection to a broker, from `wakebridge.json5`: the same for publications and for subscriptions.
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

public struct BrokerSettings: Hashable, Sendable {
    public var address: BrokerAddress
    public var user: String?
    public var passwordFile: String?
    /// PEM files.
    public var certificateAuthority: String?
    public var certificate: String?
    public var key: String?
    /// The beginning of all topics.
    public var base = "wakebridge"

    public static let keys = [
        "broker", "user", "password_file", "certificate_authority", "certificate", "key", "base",
    ]
    private static let longestPassword = 4096

    public init(_ address: BrokerAddress) { self.address = address }

    /// Nil, and reported, where the address cannot be read.
    public init?(_ object: ConfigurationObject) {
        guard let text = object.text("broker") else { return nil }
        guard let address = BrokerAddress(text) else {
            object.refuse("broker", expected: "the address of a broker such as \"mqtts://host:8883\"")
            return nil
        }
        self.init(address)
        user = object.text("user")
        passwordFile = object.path("password_file")
        certificateAuthority = object.path("certificate_authority")
        certificate = object.path("certificate")
        key = object.path("key")
        base = object.topic("base") ?? base
        if certificate == nil, key != nil { object.add("\(object.path(of: "key")) needs certificate", at: "key") }
        if !address.isEncrypted, certificateAuthority != nil || certificate != nil {
            object.refuse("broker", expected: "\"mqtts://…\" beside certificates")
        }
    }

    /// With the password, which is read now: only its owner may be able to read it.
    public func options(clientIdentifier: String) throws(SystemError) -> MQTTOptions {
        var options = MQTTOptions(broker: address, clientIdentifier: clientIdentifier)
        options.user = user
        (options.certificateAuthority, options.certificate, options.key) = (certificateAuthority, certificate, key)
        guard let passwordFile else { return options }
        let bytes = try TrustedFile.bytes(at: passwordFile, limit: Self.longestPassword)
        guard (File.mode(of: passwordFile) ?? 0) & 0o077 == 0 else {
            throw SystemError(
                "read", passwordFile, .denied, advice: "others can read it; run chmod 600 \(passwordFile)")
        }
        options.password = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return options
    }
}

extension ConfigurationObject {
    /// An absolute path.
    fileprivate func path(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        if text.hasPrefix("/") { return text }
        refuse(key, expected: "an absolute path")
        return nil
    }

    /// Levels of a topic, without wildcards.
    public func topic(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        if levels.allSatisfy({ TopicName.isLevel($0) }) { return text }
        refuse(key, expected: "levels of a topic such as \"home/wakebridge\", without + and #")
        return nil
    }
}
