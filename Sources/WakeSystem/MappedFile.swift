// A file in memory: its contents outlive the process, however it ends, and a store costs no call of the kernel.
import Glibc

/// Mapped for as long as this value exists. A machine that fails loses the writes that its disk has not got.
public struct MappedFile: ~Copyable {
    public let size: Int
    private let start: UnsafeMutableRawPointer

    /// Opens or makes the file, which only its owner can read, and gives it `size` bytes; new ones are zero.
    public init(_ path: String, size: Int) throws(SystemError) {
        let file = try File.open(path, for: .create)
        let number = file.raw
        // Reserved now: a full disk is an error here, and would be a fatal signal at the first store.
        let code = posix_fallocate(number, 0, off_t(size))
        guard code == 0 else {
            throw SystemError("reserve \(size) bytes for", path, Errno(code: code), advice: "free some space")
        }
        _ = try attempt { Int(ftruncate(number, off_t(size))) }.get("resize", path)
        let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
        guard let mapped, mapped != MAP_FAILED else { throw SystemError("map", path, Errno.last) }
        self.size = size
        start = mapped
    }

    deinit { munmap(start, size) }

    public func word(at place: Int) -> UInt64 {
        start.loadUnaligned(fromByteOffset: checked(place, 8), as: UInt64.self)
    }

    public func setWord(_ value: UInt64, at place: Int) {
        start.storeBytes(of: value, toByteOffset: checked(place, 8), as: UInt64.self)
    }

    public func bytes(at place: Int, count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start + checked(place, count), count: count))
    }

    public func setBytes(_ bytes: [UInt8], at place: Int) {
        bytes.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            memcpy(start + checked(place, source.count), from, source.count)
        }
    }

    private func checked(_ place: Int, _ count: Int) -> Int {
        precondition(place >= 0 && count >= 0 && place <= size - count, "outside of a mapped file")
        return place
    }
}
