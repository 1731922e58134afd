// Whether a daemon's processes and peers are idle: each is frozen, or blocked until something comes.
import WakeSystem

package enum QuietProcesses {
    /// How often each thread ran until it came to rest: the daemon's own but its loop's, and those of all processes below it and
    /// below its peers. Nil while any of them has something to do.
    package static func runs(below daemon: Int32, beside peers: [Int32] = []) -> [Int32: String]? {
        var runs: [Int32: String] = [:]
        var rest = [daemon] + peers
        while let process = rest.popLast() {
            let folder = "/proc/\(process)/task"
            for thread in names(in: folder).compactMap({ Int32($0) }) {
                rest += text(of: "\(folder)/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
                guard thread != daemon else { continue }
                guard isQuiet("\(folder)/\(thread)", actsAlone: peers.contains(process)) else { return nil }
                runs[thread] = text(of: "\(folder)/\(thread)/schedstat")
            }
        }
        return runs
    }

    /// The same for peers alone.
    package static func runs(of peers: [any Peer]) -> [Int32: String]? {
        runs(below: 0, beside: peers.flatMap(\.processes))
    }

    /// A thread that has ended is quiet, and so is one that is stopped. One that acts alone goes on by itself when its wait is over.
    private static func isQuiet(_ thread: String, actsAlone: Bool) -> Bool {
        let state = text(of: "\(thread)/stat").split(separator: ")").last?.split(separator: " ").first?.first
        switch state {
        case "Z", "X", "T", "t": return true
        case "S": break
        default: return false
        }
        if text(of: "\(thread)/wchan") == "do_freezer_trap" { return true }
        let call = text(of: "\(thread)/syscall").split(separator: " ").map(String.init)
        guard let number = call.first.flatMap({ Int($0) }), waiting.contains(number) else { return false }
        guard actsAlone, let place = timeouts[number], call.count > place else { return true }
        // As a signed number of 32 bits; below zero it waits for ever.
        let timeout = UInt64(call[place].dropFirst(2), radix: 16).map { Int32(truncatingIfNeeded: $0) } ?? 0
        return timeout < 0 || timeout >= longWait
    }

    /// In milliseconds. Who waits for longer looks around at leisure, as curl does; bluez.py does nothing as late as that.
    private static let longWait: Int32 = 200

    #if arch(x86_64)
        /// read, poll, select, accept, recvfrom, recvmsg, wait4, rt_sigsuspend, futex, epoll_wait, waitid, pselect6, ppoll,
        /// epoll_pwait, accept4.
        private static let waiting: Set<Int> = [0, 7, 23, 43, 45, 47, 61, 130, 202, 232, 247, 270, 271, 281, 288]
        /// Which word of a call to poll, epoll_wait and epoll_pwait is its timeout.
        private static let timeouts = [7: 3, 232: 4, 281: 4]
    #else
        /// epoll_pwait, read, pselect6, ppoll, waitid, futex, rt_sigsuspend, accept, recvfrom, recvmsg, accept4, wait4.
        private static let waiting: Set<Int> = [22, 63, 72, 73, 95, 98, 133, 202, 207, 212, 242, 260]
        /// Which word of a call to epoll_pwait is its timeout; that of ppoll is not to be seen.
        private static let timeouts = [22: 4]
    #endif
}
