// Compression as HTTP calls it gzip.
import CZlib

extension [UInt8] {
    /// Empty where zlib has no memory for it.
    public var gzipped: [UInt8] {
        var packed = [UInt8](repeating: 0, count: wake_gzip_bound(count))
        let written = wake_gzip(self, count, &packed, packed.count)
        return Array(packed.prefix(written))
    }
}
