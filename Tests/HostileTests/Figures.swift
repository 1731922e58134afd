// What an attack cost the victim and the daemon, and what it may cost.
import TestBench
import Testing

/// A beat as the victim's record has it.
struct Heard {
    var beat: Int
    var sequence: Int
    var time: Double

    /// Lines are: pid, the parent's, nanoseconds, the event.
    static func read(_ path: String) -> [Heard] {
        lines(of: path).compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 3)
            guard fields.count == 4, let time = Double(fields[2]), let raw = member("raw", of: fields[3]) else {
                return nil
            }
            let sequence = member("seq", of: fields[3]).flatMap { Int($0) } ?? 0
            return Heard(beat: Int(raw.suffix(2), radix: 16) ?? -1, sequence: sequence, time: time / 1e9)
        }
    }
}

struct Figures: CustomStringConvertible {
    /// Seconds: the one in the middle, and the longest.
    typealias Span = (median: Double, longest: Double)

    /// Seconds that half of all wakes, and every wake and answer, may take on a machine that is never late.
    private static let (median, longest) = (0.05, 1.5)

    let name: String
    let heard: [Heard]
    /// How long after its instant in the trace a beat was heard. The beat with the best luck is the zero.
    let quiet: Span
    let attacked: Span
    /// How late the machine was by itself while it was attacked.
    let machine: Span
    let answers: Answers
    /// The share of one processor that the daemon used while it was attacked.
    let processor: Double
    let tasks: Int
    /// The daemon's own figure of what kept it from everything else, in seconds; nil where it has none.
    let turn: Double?

    init(
        name: String, heard: [Heard], due: (Int) -> Double, machine: Span, answers: Answers, processor: Double,
        tasks: Int, turn: Double?
    ) {
        (self.name, self.heard, self.machine, self.answers) = (name, heard, machine, answers)
        (self.processor, self.tasks, self.turn) = (processor, tasks, turn)
        let late = heard.map { (beat: $0.beat, time: $0.time - due($0.beat)) }
        let luckiest = late.map(\.time).min() ?? 0
        func span(_ beats: Range<Int>) -> Span {
            let times = late.filter { beats.contains($0.beat) }.map { $0.time - luckiest }.sorted()
            return (times.isEmpty ? .infinity : times[times.count / 2], times.last ?? .infinity)
        }
        quiet = span(0..<Siege.quiet)
        attacked = span(Siege.quiet..<Siege.quiet + Siege.attacked)
    }

    /// One line for the record.
    var description: String {
        """
        hostile: \(name): quiet \(written(quiet)) ms, attacked \(written(attacked)) ms (median/longest); \
        machine \(written(machine)) ms, daemon \(tenths(processor * 100)) % of a processor, \
        its loop kept for at most \(tenths((turn ?? .nan) * 1000)) ms, \
        status answered \(answers.times.count) times in at most \(tenths(answers.longest * 1000)) ms, \
        not \(answers.failures.count) times; \(heard.count) heard, \(tasks) hostile tasks
        """
    }

    private func written(_ span: Span) -> String { "\(tenths(span.median * 1000))/\(tenths(span.longest * 1000))" }

    private func tenths(_ value: Double) -> String {
        value.isFinite ? "\((value * 10).rounded() / 10)" : "-"
    }

    /// Claims that no slow machine may break: the other handler misses no beat, and the daemon answers.
    func checkAccounts(at location: SourceLocation = #_sourceLocation) {
        let beats = Array(0..<(Siege.quiet + Siege.attacked))
        #expect(heard.map(\.beat) == beats, "\(name): each beat once, in order", sourceLocation: location)
        #expect(isSorted(heard.map(\.sequence)), "\(name): numbers rise", sourceLocation: location)
        #expect(answers.failures == [], "\(name): the daemon answers", sourceLocation: location)
    }

    /// What must hold whatever a handler does. A chain of processes wakes for a beat, so each of them may be as late as the
    /// machine was for the one that measured it.
    /// - Parameter processor: the share of one processor that the daemon may use.
    func check(processor: Double = .infinity, at location: SourceLocation = #_sourceLocation) {
        checkAccounts(at: location)
        let (median, last) = (Self.median + 3 * machine.median, Self.longest + 3 * machine.longest)
        #expect(attacked.median < median, "\(name): half of all wakes took longer", sourceLocation: location)
        #expect(attacked.longest < last, "\(name): one wake took longer", sourceLocation: location)
        #expect(turn ?? 0 < last, "\(name): the daemon did one thing for longer", sourceLocation: location)
        #expect(answers.longest < last, "\(name): an answer took longer", sourceLocation: location)
        #expect(self.processor < processor, "\(name): the daemon worked more", sourceLocation: location)
    }

    private func isSorted(_ numbers: [Int]) -> Bool { zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } }
}
