// A process group as the weak container: uses stop signals instead of a freezer.
import Glibc
import WakeModel

/// Once its group is empty it never signals that number again, because another group may have it by then.
public final class ProcessGroup {
    private var leader: Int32?
    private var isGone = false

    public init() {}

    var name: String { leader.map { "process group \($0)" } ?? "a process group without processes" }

    func adopt(_ pid: Int32) { leader = pid }

    /// A leader that has ended counts until it is reaped.
    var isPopulated: Bool {
        guard let leader, !isGone else { return false }
        isGone = kill(-leader, 0) < 0 && Errno.last == .noSuchProcess
        return !isGone
    }

    /// Whether the leader has stopped. The others of the group get the same signal and stop at about the same time.
    func isStopped() throws(SystemError) -> Bool {
        guard let leader, !isGone else { return false }
        return try ProcessStatus(of: leader)?.isStopped ?? false
    }

    func signal(_ number: Int32) throws(SystemError) {
        guard let leader, isPopulated else { return }
        switch attempt({ Int(kill(-leader, number)) }) {
        case .value, .failure(.noSuchProcess): return
        case .failure(let errno): throw SystemError("send signal \(number) to", name, errno)
        }
    }

    /// Searches /proc, for at most the time of a look at locks.
    func processes() throws(SystemError) -> Members {
        guard let leader, !isGone else { return Members(processes: []) }
        let end = SystemClock.monotonic() + FileLocks.briefLook
        var found = Members(processes: [])
        for name in try Directory.names(in: "/proc") {
            guard let pid = Int32(name) else { continue }
            guard SystemClock.monotonic() < end else {
                found.isComplete = false
                break
            }
            if try ProcessStatus(of: pid)?.group == leader { found.processes.append(pid) }
        }
        return found
    }
}

/// What /proc reports about one process.
struct ProcessStatus {
    let state: UInt8
    let group: Int32

    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

    /// Nil when there is no such process, or we may not see it.
    init?(of pid: Int32) throws(SystemError) {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.bytes(at: "/proc/\(pid)/stat") } catch {
            // Where the process ended between the two calls, the kernel answers ESRCH.
            guard [.noEntry, .noSuchProcess, .denied, .notPermitted].contains(error.errno) else { throw error }
            return nil
        }
        // The name in parentheses may contain anything, parentheses too.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 2, let state = fields[0].first,
            let group = Int32(String(decoding: fields[2], as: UTF8.self))
        else { return nil }
        self.state = state
        self.group = group
    }
}
