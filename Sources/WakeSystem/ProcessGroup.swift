// A process group as the weak container: stop signals instead of a freezer.
import Glibc
import WakeModel

/// It knows when its group has died out and then never signals that number again: by then it may be somebody else's.
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

    /// Whether the leader has stopped. Others of the group are sent the same signal and stop about then.
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

    /// Looks through /proc, for as long as a look at locks may take.
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

/// What /proc tells of one process.
struct ProcessStatus {
    let state: UInt8
    let group: Int32

    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

    /// Nil when there is no such process, or none that we are let see.
    init?(of pid: Int32) throws(SystemError) {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.bytes(at: "/proc/\(pid)/stat") } catch {
            // Where it ended between the two calls, the kernel says so in its own word.
            guard [.noEntry, .noSuchProcess, .denied, .notPermitted].contains(error.errno) else { throw error }
            return nil
        }
        // The name in parentheses may hold anything, parentheses too.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 2, let state = fields[0].first,
            let group = Int32(String(decoding: fields[2], as: UTF8.self))
        else { return nil }
        self.state = state
        self.group = group
    }
}
