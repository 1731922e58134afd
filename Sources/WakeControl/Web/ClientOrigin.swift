// The network of a client, for limits that count by network: the last hop that a trusted proxy names; IPv6 by its /64.
import WakeSystem

extension NetworkAddress {
    /// A client with IPv6 has all addresses of a /64, so the /64 counts as one.
    var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes.prefix(8)) }

    /// Reads an address as proxies write it: IPv6 with or without brackets, and with or without a port.
    init?(forwarded text: Substring) {
        let forms = [String(text), "\(text):1", "[\(text)]:1"]
        guard let address = forms.lazy.compactMap({ NetworkAddress($0) }).first else { return nil }
        self = address
    }
}

extension WebSettings {
    func isProxy(_ peer: NetworkAddress?) -> Bool { peer.map { proxies.contains($0.bytes) } ?? false }

    /// The proxy itself writes the last address of the last header; the client may have sent the others.
    func origin(of peer: NetworkAddress?, forwardedFor headers: [String]) -> NetworkAddress? {
        guard isProxy(peer), let last = headers.last?.split(separator: ",").last else { return peer }
        let trimmed = last.drop { $0 == " " }.prefix { $0 != " " }
        return NetworkAddress(forwarded: trimmed) ?? peer
    }
}
