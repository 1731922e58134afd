// Reads a file in chunks, for readers that need not hold the whole file.

/// Returns a file's bytes in order, then nil. A failed read ends it too; ``failure`` then says why.
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
