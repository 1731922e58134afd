// Under which names the bridge may be called over TCP: a page of another site must not reach it by a name of its own.
import WakeSystem

package struct HostRules: Hashable, Sendable {
    /// Lower case, without ports.
    private let names: Set<String>

    package init(names: some Swift.Sequence<String>) {
        self.names = Set(names.map { $0.lowercased() } + ["localhost"])
    }

    /// Nil where a request may go on.
    /// - Parameters:
    ///   - hosts: the values of the header Host, each time that it came.
    ///   - origins: the same of the header Origin, which browsers add.
    ///   - own: this end of the connection.
    package func refusal(hosts: [String], origins: [String], own: NetworkAddress?) -> ControlRefusal? {
        guard hosts.count == 1, let host = hosts.first, isOwn(host, own) else {
            return ControlRefusal(
                .forbidden, code: "wrong-host",
                message: "this bridge is not called '\(hosts.joined(separator: ", "))'",
                advice: "use its address, or add the name to web.hosts in wakebridge.json5")
        }
        guard origins.allSatisfy({ Self.is($0, of: host) }) else {
            return ControlRefusal(
                .forbidden, code: "foreign-origin", message: "a page of another site may not use this bridge",
                advice: "open the bridge's own page")
        }
        return nil
    }

    private func isOwn(_ host: String, _ own: NetworkAddress?) -> Bool {
        guard let name = Self.name(of: host) else { return false }
        guard let bytes = NetworkAddress.bytes(of: name) else { return names.contains(name.lowercased()) }
        return NetworkAddress.isLoopback(bytes) || bytes == own?.bytes
    }

    /// Without its port; nil where that is none.
    private static func name(of host: String) -> Substring? {
        let end =
            host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
        guard let end, end < host.endIndex else { return host[...] }
        let port = host[end...]
        guard port.first == ":", UInt16(port.dropFirst()) != nil else { return nil }
        return host[..<end]
    }

    /// Whether an origin such as `http://pi.local:8787` is that host.
    private static func `is`(_ origin: String, of host: String) -> Bool {
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where origin.hasPrefix(scheme) {
            let named = origin.dropFirst(scheme.count).lowercased()
            let hosts = [host.lowercased(), host.lowercased() + port]
            return hosts.contains(named) || hosts.contains(named + port)
        }
        return false
    }
}
