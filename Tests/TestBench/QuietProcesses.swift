// Whether what a daemon runs has nothing to do: each of its processes is frozen, or blocked until something comes.
import WakeSystem

package enum QuietProcesses {
    /// How often each thread ran until it came to rest: the daemon's own but its loop's, and those of all processes below it. Nil
    /// while any of them has something to do.
    package static func runs(below daemon: Int32) -> [Int32: String]? {
        var runs: [Int32: String] = [:]
        var rest = [daemon]
        while let process = rest.popLast() {
            let folder = "/proc/\(process)/task"
            for thread in names(in: folder).compactMap({ Int32($0) }) {
                rest += text(of: "\(folder)/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
                guard thread != daemon else { continue }
                guard isQuiet("\(folder)/\(thread)") else { return nil }
                runs[thread] = text(of: "\(folder)/\(thread)/schedstat")
            }
        }
        return runs
    }

    /// A thread that has ended is quiet, and so is one that is stopped.
    private static func isQuiet(_ thread: String) -> Bool {
        let state = text(of: "\(thread)/stat").split(separator: ")").last?.split(separator: " ").first?.first
        switch state {
        case "Z", "X", "T", "t": return true
        case "S": break
        default: return false
        }
        if text(of: "\(thread)/wchan") == "do_freezer_trap" { return true }
        let call = text(of: "\(thread)/syscall").split(separator: " ").first.flatMap { Int($0) }
        return call.map { waiting.contains($0) } ?? false
    }

    #if arch(x86_64)
        /// read, poll, select, accept, recvfrom, recvmsg, wait4, futex, epoll_wait, waitid, pselect6, ppoll, epoll_pwait, accept4.
        private static let waiting: Set<Int> = [0, 7, 23, 43, 45, 47, 61, 202, 232, 247, 270, 271, 281, 288]
    #else
        /// epoll_pwait, read, pselect6, ppoll, waitid, futex, accept, recvfrom, recvmsg, accept4, wait4.
        private static let waiting: Set<Int> = [22, 63, 72, 73, 95, 98, 202, 207, 212, 242, 260]
    #endif
}
