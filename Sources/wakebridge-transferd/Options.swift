// The arguments with which the daemon starts this program: the user that it becomes.
import Glibc
import WakeSystem

struct Options {
    /// The listening socket that the daemon made.
    static let socket: Int32 = 3
    /// A file that one program of this user locks: two would write into the same parts.
    static let lock: Int32 = 4

    var user = getuid()
    var group = getgid()
    var groups: [UInt32] = []

    /// Words of `--user=N`, `--group=N`, `--groups=N,N`.
    init(_ words: some Sequence<String>) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let numbers = parts.count == 2 ? parts[1].split(separator: ",").compactMap { UInt32($0) } : []
            switch parts.first {
            case "--user": user = numbers.first ?? user
            case "--group": group = numbers.first ?? group
            case "--groups": groups = numbers
            default: break
            }
        }
    }

    func become() throws(SystemError) {
        Signals.ignoreBrokenPipes()
        if user != getuid() { try DetachedProgram.become(user, group: group, groups: groups) }
        try DetachedProgram.detach()
        try DetachedProgram.replaceHolder(of: Self.lock)
    }
}
