// The address of a transfer: http or https, a host, and nothing that could be misread.

public struct WebAddress: Hashable, Sendable {
    /// As it was written.
    public let text: String
    public let isSecure: Bool
    /// With its port, in lower case: the key for limits of one host.
    public let host: String

    public static let longest = 2_048

    /// Nil if it is no plain address of http or https. A name or a password in it would be written into logs, so none
    /// may be.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            let end = text.range(of: "://")
        else { return nil }
        let scheme = text[..<end.lower].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let authority = text[end.upper...].prefix { !"/?#".contains($0) }
        guard !authority.isEmpty, authority.first != ":", !authority.contains("@"), !authority.contains("\\") else {
            return nil
        }
        (self.text, isSecure, host) = (text, scheme == "https", authority.lowercased())
    }

    /// The host without its port; an IPv6 address in brackets.
    public var name: Substring {
        guard host.hasPrefix("[") else { return host.prefix { $0 != ":" } }
        return host.firstIndex(of: "]").map { host[...$0] } ?? host[...]
    }

    /// Whether the host's name itself means this machine.
    public var isLocalhost: Bool {
        let name = name.hasSuffix(".") ? name.dropLast() : name
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}

extension String {
    /// Where the first occurrence of a short text begins and ends.
    fileprivate func range(of text: String) -> (lower: Index, upper: Index)? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return (start, index(start, offsetBy: text.count)) }
            start = index(after: start)
        }
        return nil
    }
}

/// The target of a redirect.
public enum Redirection: Hashable, Sendable {
    case follow(WebAddress)
    case refuse(TransferFailure)

    public static let most = 10

    /// - Parameters:
    ///   - target: the whole address that the server named; nil where it named none.
    ///   - followed: how many were followed already.
    public init(from address: WebAddress, to target: String?, followed: Int) {
        guard followed < Self.most else {
            self = .refuse(.redirects)
            return
        }
        guard let next = target.flatMap({ WebAddress($0) }) else {
            self = .refuse(.redirect)
            return
        }
        self = address.isSecure && !next.isSecure ? .refuse(.insecureRedirect) : .follow(next)
    }
}
