// One process under measurement: started, stimulated through its descriptor 0, watched over a handler's board, ended.
import Glibc
import WakeModel
import WakeSystem

final class Subject {
    let name: String
    let pid: Int32
    private let device: FileDescriptor
    private let board: Board
    private let cleanUp: () -> Void

    /// Starts this program again in the part that `words` name, with its device as descriptor 0.
    init(
        _ name: String, _ words: [String], board path: String, wrapper: [String] = [],
        cleanUp: @escaping () -> Void = {}
    )
        throws
    {
        self.name = name
        self.cleanUp = cleanUp
        board = try Board(at: path)
        let ends = try SocketPair().take()
        device = FileDescriptor(owning: ends.ours)
        let theirs = FileDescriptor(owning: ends.theirs)
        pid = try Program.start(wrapper + [try Program.own()] + words, input: theirs.raw)
    }

    /// Wakes it once and waits for the handler's read, so that the first measured wake is not the first of all.
    func warmUp(wakes: Int, spacing: TimeSpan) throws {
        for _ in 0..<wakes { _ = try wake(every: spacing) }
    }

    struct Round {
        /// From just before the device's bytes are written to the handler's read returning, in nanoseconds.
        var latencies: [Int64] = []
        /// How many wakes found the handler frozen.
        var frozen = 0
    }

    func round(wakes: Int, spacing: TimeSpan) throws -> Round {
        var round = Round()
        for _ in 0..<wakes {
            let wake = try wake(every: spacing)
            round.latencies.append(wake.latency)
            if wake.wasFrozen { round.frozen += 1 }
        }
        return round
    }

    private func wake(every spacing: TimeSpan) throws -> (latency: Int64, wasFrozen: Bool) {
        let (reads, resumed) = (board.reads, board.resumed)
        let start = SystemClock.monotonic()
        guard try device.write(BridgeUnderTest.frame) == .wrote(BridgeUnderTest.frame.count) else {
            throw Failure("\(name) does not take what its device says")
        }
        sleep(until: start + spacing)
        for _ in 0..<20_000 where board.reads == reads { sleep(until: SystemClock.monotonic() + .microseconds(500)) }
        guard board.reads > reads else { throw Failure("\(name) has not woken its handler within 10 s") }
        return (board.readAt - start.nanoseconds, board.resumed > resumed)
    }

    /// Says so much at once, in writes of `burst` frames, and waits until the handler has the last of it.
    func flood(frames: Int, burst: Int) throws -> TimeSpan {
        let target = board.sequence + UInt64(frames)
        let start = SystemClock.monotonic()
        var left = frames
        while left > 0 {
            let bytes = Array(repeatElement(BridgeUnderTest.frame, count: min(burst, left)).joined())
            try writeAll(bytes)
            left -= min(burst, left)
        }
        let patience = SystemClock.monotonic() + .seconds(60)
        while board.sequence < target {
            guard SystemClock.monotonic() < patience else {
                throw Failure(
                    "\(name) has delivered \(frames - Int(target - board.sequence)) of \(frames) events in 60 s")
            }
            sleep(until: SystemClock.monotonic() + .milliseconds(1))
        }
        return Instant(nanoseconds: board.readAt) - start
    }

    private func writeAll(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            switch try device.write(bytes, from: written) {
            case .wrote(let count): written += count
            case .wouldBlock:
                var room = pollfd(fd: device.raw, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, 1_000)
            case .closed: throw Failure("\(name) has ended")
            }
        }
    }

    /// Says end-of-file and waits for its end; what does not end is killed.
    func end() {
        shutdown(device.raw, Int32(SHUT_WR))
        Program.awaitEnd(of: pid)
        cleanUp()
    }
}

/// A measurement that cannot go on.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func sleep(until instant: Instant) {
    var time = timespec(
        tv_sec: Int(instant.nanoseconds / 1_000_000_000), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}

/// Programs that are measured from outside.
enum Program {
    static func own() throws(SystemError) -> String { try File.linkTarget(of: "/proc/self/exe") }

    /// What was built beside this program.
    static func sibling(_ name: String) throws(SystemError) -> String {
        let own = try own()
        return own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/" + name
    }

    static func start(_ words: [String], input: Int32, environment: [String] = []) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = (["PATH=/usr/bin:/bin"] + environment).map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, nil, &arguments, &variables)
        guard code == 0 else { throw SystemError("start", words[0], Errno(code: code)) }
        return pid
    }

    static func awaitEnd(of pid: Int32, patience: TimeSpan = .seconds(15)) {
        let end = SystemClock.monotonic() + patience
        var isKilled = false
        while waitpid(pid, nil, WNOHANG) == 0 {
            if !isKilled, SystemClock.monotonic() > end {
                isKilled = true
                kill(pid, SIGKILL)
            }
            sleep(until: SystemClock.monotonic() + .milliseconds(5))
        }
    }
}
