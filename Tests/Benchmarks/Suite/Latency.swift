// What a wake costs, against what the kernel alone costs: interleaved rounds, a ratio for each, the median of the ratios.
import Glibc
import WakeModel
import WakeSystem

struct Latency {
    var rounds = 20
    var wakes = 100

    func measure() throws {
        let limit = try Self.limit()
        let bridges = try [Durability.run, .ram].map { try Self.bridge($0) }
        defer { for subject in [limit] + bridges { subject.end() } }
        for spacing in [TimeSpan.milliseconds(1), .milliseconds(20)] {
            try compare(bridges, with: limit, spacing: spacing)
        }
    }

    private func compare(_ bridges: [Subject], with limit: Subject, spacing: TimeSpan) throws {
        let all = [limit] + bridges
        for subject in all { try subject.warmUp(wakes: 50, spacing: spacing) }
        var figures = all.map { _ in [Subject.Round]() }
        for _ in 0..<rounds {
            for (index, subject) in all.enumerated() {
                figures[index].append(try subject.round(wakes: wakes, spacing: spacing))
            }
        }
        say("\nwake latency, \(spacing.wholeMilliseconds) ms between wakes, \(rounds) rounds of \(wakes)")
        say(Table.row(["", "p50 µs", "p99 µs", "ratio", "p99 ratio", "frozen"]))
        let limits = figures[0].map { Quantiles($0.latencies) }
        for (subject, rounds) in zip(all, figures) { tell(subject, rounds, limits) }
    }

    private func tell(_ subject: Subject, _ rounds: [Subject.Round], _ limits: [Quantiles]) {
        let all = Quantiles(rounds.flatMap(\.latencies))
        let ratios = zip(rounds, limits).map { Quantiles($0.latencies).median / $1.median }
        let tails = zip(rounds, limits).map { Quantiles($0.latencies).p99 / $1.p99 }
        let frozen = rounds.reduce(0) { $0 + $1.frozen }
        say(
            Table.row([
                subject.name, Table.number(all.median / 1000, 1), Table.number(all.p99 / 1000, 1),
                Table.number(Quantiles(ratios).median, 2), Table.number(Quantiles(tails).median, 2),
                "\(frozen)/\(rounds.reduce(0) { $0 + $1.latencies.count })",
            ]))
    }

    static func limit() throws -> Subject {
        let directory = try MemoryFolder.make()
        return try Subject(
            "limit", ["limit", directory + "/board", "wakebridge-bench-\(getpid())"], board: directory + "/board"
        ) { Directory.removeTree(directory) }
    }

    static func bridge(
        _ durability: Durability, linger: TimeSpan = .zero, bytesPerRead: Int = 4_096, wrapper: [String] = []
    ) throws -> Subject {
        let folder = try BridgeFolder(durability: durability, linger: linger, program: try Program.own())
        return try Subject(
            durability.rawValue, ["bridge", folder.path, "\(bytesPerRead)"], board: folder.board, wrapper: wrapper
        ) { Directory.removeTree(folder.path) }
    }
}
