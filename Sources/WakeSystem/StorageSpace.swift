// How much room a file system has left.
import Glibc

public struct StorageSpace: Hashable, Sendable {
    public var totalBytes: UInt64
    /// Without the bytes reserved for root.
    public var availableBytes: UInt64

    /// Below this a small file system is full, even if a twentieth is free.
    private static let leastBytes: UInt64 = 100 << 20

    public init(totalBytes: UInt64, availableBytes: UInt64) {
        self.totalBytes = totalBytes
        self.availableBytes = availableBytes
    }

    /// The space of the file system that contains the path.
    public init(of path: String) throws(SystemError) {
        var status = statvfs()
        _ = try attempt { Int(statvfs(path, &status)) }.get("ask for the free space of", path)
        let block = UInt64(status.f_frsize)
        self.init(totalBytes: UInt64(status.f_blocks) * block, availableBytes: UInt64(status.f_bavail) * block)
    }

    /// A twentieth is free, and no less than 100 MiB.
    public var hasRoom: Bool { availableBytes >= max(totalBytes / 20, Self.leastBytes) }
}
