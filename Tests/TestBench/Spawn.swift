// How every test starts a process, and reads how it ended.
import Glibc
import WakeSystem

/// Where a stream of a started process goes.
package enum Outlet {
    case descriptor(Int32)
    /// Added to what stands there, or in its place.
    case file(String, replaces: Bool = false)
}

/// Starts a program, found on PATH; without `input` there is nothing on its standard input.
package func spawn(_ words: [String], input: Int32? = nil, output: Outlet, talk: Outlet) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
        posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    for (number, outlet) in [(Int32(1), output), (2, talk)] {
        switch outlet {
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        case .file(let path, let replaces):
            let mode = O_WRONLY | O_CREAT | (replaces ? O_TRUNC : O_APPEND)
            posix_spawn_file_actions_addopen(&actions, number, path, mode, 0o644)
        }
    }
    // Threads of Swift's own block most signals, and a child would go on blocking them.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var started: pid_t = 0
    let code = posix_spawnp(&started, words[0], &actions, &attributes, &arguments, environ)
    guard code == 0 else { throw SystemError("start", words[0], Errno(code: code)) }
    return started
}

/// The exit status of a child that has ended, below zero the signal that it died of; nil while it runs. Reaps it.
package func end(of child: pid_t) -> Int32? {
    var status: Int32 = 0
    guard waitpid(child, &status, WNOHANG) == child else { return nil }
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
}

/// Kills a child outright and reaps it.
package func killAndReap(_ child: pid_t) {
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
}
