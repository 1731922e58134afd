// The whole of the measurements, in order, or those that were asked for by name.
import BenchmarkProbe
import Glibc
import WakeSystem

struct Suite {
    private var names: [String]
    private var rounds = 20
    private var events = 200_000

    static let all = ["latency", "throughput", "replay", "daemon"]

    /// Names of measurements; `--rounds N` and `--events N`; `--precedence` runs everything under SCHED_FIFO, for a machine with other work.
    init(_ words: [String]) throws {
        names = []
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--precedence": try Self.takePrecedence()
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw Failure("--rounds takes a number")
                }
                rounds = count
            case "--events":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw Failure("--events takes a number")
                }
                events = count
            case let name where Self.all.contains(name): names.append(name)
            default:
                throw Failure(
                    "\"\(word)\" is none of \(Self.all.joined(separator: ", ")), --rounds N, --events N, --precedence")
            }
        }
        if names.isEmpty { names = Self.all }
    }

    func run() throws {
        Signals.ignoreBrokenPipes()
        if names.contains("latency") { try Latency(rounds: rounds).measure() }
        if names.contains("throughput") { try Throughput.measure(events: events) }
        if names.contains("replay") { try Throughput.measureReplay(events: events) }
        if names.contains("daemon") { try DaemonFigures.measure() }
    }

    private static func takePrecedence() throws(SystemError) {
        let code = benchmark_take_precedence()
        if code < 0 { throw SystemError("take precedence over", "other work", Errno(code: -code)) }
        say("measured under SCHED_FIFO")
    }
}
