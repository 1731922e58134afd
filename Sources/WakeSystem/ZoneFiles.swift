// The system's time zones: the bytes of a TZif file by the zone's name.
import Glibc

public struct ZoneFiles: Hashable, Sendable {
    private let root: String
    private let local: String

    /// The name of the system's own zone.
    public static let localName = "localtime"
    /// The largest zone of the database has less than 4 KiB.
    private static let mostBytes = 64 << 10
    private static let longestName = 255

    public init(root: String = "/usr/share/zoneinfo", local: String = "/etc/localtime") {
        self.root = root
        self.local = local
    }

    /// Where the zone's file would be; nil for a name that no zone can have.
    public func path(of name: String) -> String? {
        if name == Self.localName { return local }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }
        return isPlain && name.utf8.count <= Self.longestName ? "\(root)/\(name)" : nil
    }

    /// Nil where there is no such zone. A system whose own zone is not set lives in UTC.
    public func bytes(of name: String) -> [UInt8]? {
        let found = path(of: name).flatMap(Self.plainFile)
        return found == nil && name == Self.localName ? path(of: "UTC").flatMap(Self.plainFile) : found
    }

    /// The name of the system's own zone, by the link to it; nil if it is no link into a folder of zones.
    public var nameOfLocal: String? {
        let way = (try? File.linkTarget(of: local))?.split(separator: "/") ?? []
        guard let folder = way.lastIndex(of: "zoneinfo") else { return nil }
        let name = way[(folder + 1)...].joined(separator: "/")
        return bytes(of: name) == nil ? nil : name
    }

    /// Reads only a plain file: to read a pipe would wait for ever.
    private static func plainFile(at path: String) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return try? File.bytes(at: path, limit: mostBytes)
    }
}
