// Memory pressure of the machine: reported by the kernel where it can, otherwise looked up.
import CLinux
import Glibc

public enum MemoryPressure {
    /// A descriptor that polls `priority` when tasks waited for memory for `stalledMicroseconds` within
    /// `windowMicroseconds` (500,000 to 10,000,000). Nil if the kernel keeps no pressure figures, or this process may
    /// not read them.
    public static func trigger(stalledMicroseconds: Int = 150_000, windowMicroseconds: Int = 2_000_000)
        -> FileDescriptor?
    {
        PressureTrigger.open(
            "/proc/pressure/memory", stalledMicroseconds: stalledMicroseconds, windowMicroseconds: windowMicroseconds)
    }

    /// The machine's memory, and the part that could be allocated without swapping, in bytes.
    public static func memory() throws(SystemError) -> (total: UInt64, available: UInt64) {
        let text = try File.text(at: "/proc/meminfo")
        guard let total = bytes(of: "MemTotal:", in: text), let available = bytes(of: "MemAvailable:", in: text) else {
            throw SystemError("find MemTotal and MemAvailable in", "/proc/meminfo", .noEntry)
        }
        return (total, available)
    }

    /// Gives back memory that only the start needed: free heap, and the pages of code touched so far. Pages that are still
    /// needed come back one by one.
    public static func releaseStartup() { clinux_release_startup_memory() }

    /// This process's resident memory in bytes; 0 where /proc cannot be read.
    public static var ownResidentBytes: Int {
        let fields = ((try? File.text(at: "/proc/self/statm")) ?? "").split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
    }

    private static func bytes(of name: String, in text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            let fields = line.split(separator: " ")
            return fields.count > 1 ? UInt64(fields[1]).map { $0 * 1024 } : nil
        }
        return nil
    }
}
