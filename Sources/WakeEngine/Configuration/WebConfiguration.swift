// The setting `web` of wakebridge.json5: the address where the bridge listens for browsers and other machines.
import WakeProfiles
import WakeSystem

public struct WebConfiguration: Hashable, Sendable {
    /// The clients that may read `/metrics`.
    public enum MetricsAccess: String, Hashable, Sendable, CaseIterable { case token, open }

    public var listen: NetworkAddress
    /// Begins and ends with a slash.
    public var prefix = "/"
    public var hosts: [String] = []
    /// Paths of PEM files: both or none.
    public var certificate: String?
    public var key: String?
    public var metrics = MetricsAccess.token
    /// Proxies, whose last address in X-Forwarded-For counts for the limits of wrong tokens and connections.
    public var proxies: [String] = []
    /// Whether browsers send the cookie over TLS alone; nil where that follows from the certificate and the login.
    public var secureCookie: Bool?

    public init(listen: NetworkAddress) { self.listen = listen }

    /// The bridge listens here by default.
    public static let usualAddress = "127.0.0.1:8787"

    static let keys = ["listen", "prefix", "hosts", "certificate", "key", "metrics", "proxies", "secure_cookie"]

    /// Nil where there is no such object; what is wrong with it goes to the report.
    static func read(_ key: String, of object: ConfigurationObject) -> WebConfiguration? {
        guard let found = object.object(key, keys: keys) else { return nil }
        guard let address = NetworkAddress(found.text("listen") ?? usualAddress) else {
            found.refuse("listen", expected: "a numeric address and a port such as \"\(usualAddress)\"")
            return nil
        }
        var web = WebConfiguration(listen: address)
        web.readPlace(found)
        web.hosts = found.texts("hosts") ?? []
        web.metrics = found.word("metrics") ?? web.metrics
        web.readProxies(found)
        web.secureCookie = found.flag("secure_cookie")
        web.certificate = path("certificate", of: found)
        web.key = path("key", of: found)
        if (web.certificate == nil) != (web.key == nil) {
            found.add("a certificate needs its key, and a key its certificate: name both, or none")
        }
        return web
    }

    private mutating func readPlace(_ found: ConfigurationObject) {
        guard let text = found.text("prefix") else { return }
        let isPath = text.hasPrefix("/") && !text.contains("//")
        guard isPath, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !"\";?#%".utf8.contains($0) }) else {
            return found.refuse("prefix", expected: "a path such as \"/bridge/\"")
        }
        prefix = text.hasSuffix("/") ? text : text + "/"
    }

    private mutating func readProxies(_ found: ConfigurationObject) {
        proxies = found.texts("proxies") ?? []
        guard let wrong = proxies.first(where: { Self.bytes(ofProxy: $0) == nil }) else { return }
        found.add(
            "\(found.path(of: "proxies")) must be numeric addresses without ports; got \"\(wrong)\"", at: "proxies")
    }

    /// Reads an address, IPv6 with or without brackets.
    private static func bytes(ofProxy text: String) -> [UInt8]? {
        NetworkAddress.bytes(of: text) ?? NetworkAddress.bytes(of: "[\(text)]")
    }

    /// The addresses of ``proxies`` in network order.
    public var proxyBytes: Set<[UInt8]> { Set(proxies.compactMap(Self.bytes)) }

    private static func path(_ key: String, of found: ConfigurationObject) -> String? {
        guard let text = found.text(key) else { return nil }
        if !text.hasPrefix("/") { found.refuse(key, expected: "the absolute path of a PEM file") }
        return text
    }
}

extension BridgeSettings {
    /// As ``entries`` shows them.
    var webValues: [String?] {
        guard let web else { return WebConfiguration.keys.map { _ in nil } }
        return [
            web.listen.description, web.prefix, web.hosts.isEmpty ? nil : web.hosts.joined(separator: ", "),
            web.certificate, web.key, web.metrics.rawValue,
            web.proxies.isEmpty ? nil : web.proxies.joined(separator: ", "),
            web.secureCookie.map { "\($0)" },
        ]
    }
}
