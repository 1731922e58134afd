// Where a socket leads or listens, as manifests write it: `tcp:sip.example.org:5060`, `udp:[::1]:5353`, `unix:/run/x`.
import WakeModel

public enum SocketPlace: Hashable, Sendable {
    /// A name or a numeric address; of IPv6 in brackets.
    case tcp(host: String, port: UInt16)
    case udp(host: String, port: UInt16)
    /// An absolute path of at most 107 bytes.
    case unix(path: String)

    /// As it is written.
    public var word: String {
        switch self {
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .udp(let host, let port): "udp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// A way over the network leads to it.
    public var isRouted: Bool {
        switch self {
        case .tcp, .udp: true
        case .unix: false
        }
    }

    private static let longestPath = 107
    private static let longestHost = 253
    private static let kinds = ["tcp:", "udp:", "unix:"]

    init(_ value: JSONValue, _ side: SocketRule.Side, of name: String) throws(ProtocolFault) {
        let place = "\"\(side.rawValue)\" of the socket \"\(name)\""
        guard let text = value.string else {
            throw .malformed(
                "\(place) must be a text; got \(value.excerpt).", advice: "Write it as \"tcp:192.0.2.1:5060\".")
        }
        guard let kind = Self.kinds.first(where: text.hasPrefix) else {
            throw ProtocolFault(
                .unknownToken, "\(place) must begin with \(Self.kinds.listed); got \(value.excerpt).",
                advice: "Write it as \"tcp:192.0.2.1:5060\", \"udp:192.0.2.1:53\" or \"unix:/run/x.sock\".")
        }
        let rest = String(text.dropFirst(kind.utf8.count))
        guard kind != "unix:" else {
            self = .unix(path: try Self.path(rest, place))
            return
        }
        let (host, port) = try Self.hostAndPort(rest, place)
        guard side == .connect || host.isNumericHost else {
            throw .malformed(
                "\(place) must be a numeric address; got \(value.excerpt).",
                advice: "Write 127.0.0.1 for this machine alone, 0.0.0.0 or [::] for all of its addresses.")
        }
        self = kind == "tcp:" ? .tcp(host: host, port: port) : .udp(host: host, port: port)
    }

    private static func path(_ path: String, _ place: String) throws(ProtocolFault) -> String {
        let parts = path.split(separator: "/")
        guard path.hasPrefix("/"), !parts.isEmpty, !parts.contains(".."), !path.hasSuffix("/"),
            !path.unicodeScalars.contains(where: \.isMisleading)
        else {
            throw .malformed(
                "\(place) must name an absolute path without \"..\"; got \(JSONValue.string(path).excerpt).",
                advice: "Write the whole path, such as \"unix:/run/x.sock\".")
        }
        guard path.utf8.count <= longestPath else {
            throw .tooLong("The path of \(place)", path.utf8.count, limit: longestPath, advice: "Choose a shorter one.")
        }
        return path
    }

    private static func hostAndPort(_ text: String, _ place: String) throws(ProtocolFault) -> (String, UInt16) {
        let shown = JSONValue.string(text).excerpt
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw .malformed(
                "\(place) must end with a port from 1 to 65535; got \(shown).",
                advice: "Write the port behind the last colon, as in \"tcp:192.0.2.1:5060\".")
        }
        let host = String(text[..<colon])
        guard host.isNumericHost || host.isHostName, host.utf8.count <= longestHost else {
            throw .malformed(
                "\(place) must name a host; got \(shown).",
                advice: "Write a name or a numeric address, of IPv6 in brackets, as in \"tcp:[2001:db8::1]:5060\".")
        }
        return (host, port)
    }
}

extension String {
    /// `192.0.2.1`, or something of IPv6 in brackets, which the kernel reads.
    fileprivate var isNumericHost: Bool {
        if hasPrefix("["), hasSuffix("]"), utf8.count > 3 {
            return dropFirst().dropLast().utf8.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) }
        }
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && UInt8($0) != nil }
    }

    /// Letters, digits, `-` and `_` between single dots. A name of digits alone would be a mistyped address.
    fileprivate var isHostName: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 && !$0.hasPrefix("-") }) else { return false }
        let letters = unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }
        return !letters.isEmpty
            && unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    || "-_.".unicodeScalars.contains(scalar)
            }
    }
}
