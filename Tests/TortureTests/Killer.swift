// Kills handlers and daemons at random instants, from a seed that is printed.
import Glibc
import TestBench
import Testing

struct Killer {
    private var random: Dice
    private(set) var handlerKills = 0
    private(set) var daemonKills = 0
    /// The processes that were killed while their daemon lived.
    private(set) var victims: Set<pid_t> = []
    /// The longest time between two kills, in seconds.
    var longestPause = 0.12
    /// Empties the runtime directory between two lives, as a reboot does.
    var wipesRuntime = false
    /// Ends the daemon by SIGTERM in place of SIGKILL.
    var asks = false

    init(seed: UInt64) { random = Dice(seed) }

    /// Kills until so many of each are dead, or the trace is over and no handler has anything to live for: a slow machine
    /// comes to that end sooner.
    mutating func torture(_ daemon: Daemon, handlers: Int, daemons: Int) async throws {
        while handlerKills < handlers || daemonKills < daemons {
            try await RealTime.pass(nextPause())
            let left = (handlers - handlerKills, daemons - daemonKills)
            if Int.random(in: 0..<(left.0 + left.1), using: &random) < left.0 {
                guard try await killHandler(of: daemon) else { return }
            } else {
                try await endDaemon(daemon)
            }
        }
    }

    /// One in four comes so soon that it meets a start, a freeze or another kill.
    private mutating func nextPause() -> Double {
        let longest = Int.random(in: 0..<4, using: &random) == 0 ? 0.008 : longestPause
        return Double.random(in: 0...longest, using: &random)
    }

    private mutating func killHandler(of daemon: Daemon) async throws -> Bool {
        var victim: pid_t?
        // A debug build under load takes seconds to start, and what crashed is held for a while.
        _ = try await wait(60, every: 0.002) {
            victim = daemon.handlers.randomElement(using: &random)
            return victim != nil || daemon.hasPlayed
        }
        guard let victim else { return false }
        kill(victim, SIGKILL)
        victims.insert(victim)
        handlerKills += 1
        return true
    }

    private mutating func endDaemon(_ daemon: Daemon) async throws {
        daemonKills += 1
        guard asks || wipesRuntime else { return try daemon.killAndRestart() }
        if asks { try await daemon.stop() } else { daemon.killForGood() }
        if wipesRuntime { daemon.ground.wipeRuntime() }
        try daemon.start()
    }
}

/// Sizes of a run: small in every test run, whole where WAKEBRIDGE_TORTURE=full.
enum Torture {
    static let isFull = getenv("WAKEBRIDGE_TORTURE").map { String(cString: $0) } == "full"
    static let seed: UInt64 = {
        getenv("WAKEBRIDGE_TORTURE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1_000_000)
    }()
    static var events: Int { isFull ? 10_000 : 2_000 }
    static var kills: Int { isFull ? 200 : 40 }
    /// How long the trace lasts; the kills last a little longer.
    static var seconds: Double { isFull ? 40 : 8 }
}

extension Daemon {
    /// Whether the whole trace was played.
    var hasPlayed: Bool { text(of: ground.daemonLog)[...].firstRange(of: "is played") != nil }

    /// Waits until the trace is played and nothing is owed.
    /// - Parameter reviving: handlers that may be killed five times before an acknowledgement, which is quarantine: their
    ///   operator ends it.
    func settle(within seconds: Double, reviving ids: [String] = []) async throws {
        let isPlayed = try await wait(seconds, every: 0.1) { self.hasPlayed }
        try #require(isPlayed, "the trace is not played after \(seconds) s\n\(text(of: ground.daemonLog).suffix(2000))")
        let isSettled = try await wait(seconds, every: 0.1) {
            if !ids.isEmpty, try await self.tool("status", "--json").output.contains("\"state\":\"quarantined\"") {
                for id in ids { _ = try await self.tool("start", id) }
            }
            return try await self.owed() == 0
        }
        let status = isSettled ? "" : try await tool("status", "--json").output
        try #require(isSettled, "still owed after \(seconds) s: \(status)\n\(text(of: ground.daemonLog).suffix(2000))")
    }
}
