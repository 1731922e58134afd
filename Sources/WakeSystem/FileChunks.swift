// A file read piece by piece, for readers that need not hold the whole of it.

/// Gives a file's bytes in order, then nil. A read that fails ends it as well; ``failure`` then says why.
public final class FileChunks {
    public private(set) var failure: SystemError?
    private let file: FileDescriptor
    private static let chunkBytes = 64 << 10

    public init(_ path: String) throws(SystemError) { file = try File.open(path, for: .read) }

    public func next() -> [UInt8]? {
        var bytes: [UInt8] = []
        do {
            guard case .bytes = try file.read(appendingTo: &bytes, limit: Self.chunkBytes) else { return nil }
            return bytes
        } catch {
            failure = error
            return nil
        }
    }
}
