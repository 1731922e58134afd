// Where a client is, for the limits that count by network: the last hop that a trusted proxy names, and IPv6 by its network.
import WakeSystem

extension NetworkAddress {
    /// Whoever has IPv6 has a network of 64 bits of it, so that all of that counts as one.
    var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes.prefix(8)) }

    /// As proxies write it: IPv6 with or without brackets, with or without a port.
    init?(forwarded text: Substring) {
        let forms = [String(text), "\(text):1", "[\(text)]:1"]
        guard let address = forms.lazy.compactMap({ NetworkAddress($0) }).first else { return nil }
        self = address
    }
}

extension WebSettings {
    func isProxy(_ peer: NetworkAddress?) -> Bool { peer.map { proxies.contains($0.bytes) } ?? false }

    /// The last address of the last header is the proxy's own word; those before it are the client's.
    func origin(of peer: NetworkAddress?, forwardedFor headers: [String]) -> NetworkAddress? {
        guard isProxy(peer), let last = headers.last?.split(separator: ",").last else { return peer }
        let trimmed = last.drop { $0 == " " }.prefix { $0 != " " }
        return NetworkAddress(forwarded: trimmed) ?? peer
    }
}
