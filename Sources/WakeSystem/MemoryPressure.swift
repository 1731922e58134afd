// How short the machine is of memory: told by the kernel where it can, looked up where it cannot.
import Glibc

public enum MemoryPressure {
    /// A descriptor that polls `priority` when tasks were stalled for want of memory for `stalledMicroseconds` within
    /// `windowMicroseconds` (500,000 to 10,000,000). Nil where the kernel keeps no pressure figures, or does not let us ask.
    public static func trigger(stalledMicroseconds: Int = 150_000, windowMicroseconds: Int = 2_000_000)
        -> FileDescriptor?
    {
        guard let file = try? File.open("/proc/pressure/memory", for: .readWrite), (try? file.setNonblocking()) != nil
        else { return nil }
        // The closing zero is part of the request.
        let request = Array("some \(stalledMicroseconds) \(windowMicroseconds)\u{0}".utf8)
        guard case .wrote? = try? file.write(request) else { return nil }
        return file
    }

    /// What could be allocated without swapping, in bytes.
    public static func availableBytes() throws(SystemError) -> UInt64 {
        for line in try File.text(at: "/proc/meminfo").split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            let fields = line.split(separator: " ")
            guard fields.count > 1, let kibibytes = UInt64(fields[1]) else { break }
            return kibibytes * 1024
        }
        throw SystemError("find MemAvailable in", "/proc/meminfo", .noEntry)
    }
}
