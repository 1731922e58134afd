// Starts a program that outlives the daemon, with a listening socket and a file to lock.
import CLinux
import Glibc
import WakeModel

public enum DetachedProgram {
    /// Runs a program that detaches itself, and waits until it has. Returns its exit status.
    /// - Parameters:
    ///   - arguments: with the program's path first.
    ///   - socket: becomes its descriptor 3.
    ///   - lock: becomes its descriptor 4.
    public static func run(
        _ arguments: [String], environment: [String], socket: Int32, lock: Int32
    ) -> Result<Int32, SystemError> {
        let path = arguments.first ?? ""
        let answer = withCStrings(arguments) { words in
            withCStrings(environment) { variables in
                attemptC { clinux_run_with_socket(path, words, variables, socket, lock) }
            }
        }
        switch answer {
        case .value(let status): return .success(Int32(status))
        case .failure(let errno):
            return .failure(SystemError("run", path, errno, advice: "is it there, and executable?"))
        }
    }

    /// Becomes this user for good.
    public static func become(_ user: UInt32, group: UInt32, groups: [UInt32]) throws(SystemError) {
        _ = try attemptC { clinux_become(user, group, groups, groups.count) }.get("become", "user \(user)")
    }

    /// Locks the file for as long as this process lives. Another one that has it gets SIGTERM, and SIGKILL later.
    /// - Parameter lock: a descriptor of the file, which nothing else of this process closes.
    public static func replaceHolder(of lock: Int32) throws(SystemError) {
        let begun = SystemClock.monotonic()
        var told: Int32 = 0
        while true {
            var holder: Int32 = 0
            switch attemptC({ clinux_lock(lock, &holder) }) {
            case .value: return
            case .failure(.busy):
                let waited = SystemClock.monotonic() - begun
                guard waited < longestEnd * 2 else { throw SystemError("end", "process \(holder)", .busy) }
                end(holder, told, isLate: waited > longestEnd)
                told = holder
                usleep(20_000)
            case .failure(let errno): throw SystemError("lock", "the file of this user's transfers", errno)
            }
        }
    }

    private static let longestEnd = TimeSpan.seconds(10)

    /// - Parameter holder: 0 if the lock was released before the kernel named its holder. A signal to 0 would reach
    /// this process too.
    private static func end(_ holder: Int32, _ told: Int32, isLate: Bool) {
        guard holder > 0 else { return }
        if isLate { kill(holder, SIGKILL) } else if holder != told { kill(holder, SIGTERM) }
    }

    /// Goes on in a child of its own session; the process that was started ends.
    public static func detach() throws(SystemError) {
        _ = try attemptC { clinux_detach() }.get("detach", "this program")
    }
}
