// A program that runs while the test looks on: its output in files, its end awaited without blocking.
import Glibc
import TestBench
import Testing

/// Killed and reaped at the latest when the test lets go of it, so that no failing test leaves a process behind.
final class Running {
    let pid: pid_t
    private let scratch: Scratch
    private let outputPath: String
    private let talkPath: String
    private var status: Int32?

    struct Outcome {
        var exit: Int32
        var output: String
        var talk: String
        var seconds: Double

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    private let start = monotonicNow()

    init(_ words: [String], in scratch: Scratch, directory: String? = nil) throws {
        self.scratch = scratch
        let words = (directory.map { ["env", "-C", $0] } ?? []) + words
        let number = String(UInt32.random(in: 0 ... .max), radix: 16)
        outputPath = scratch.file("output-\(number)")
        talkPath = scratch.file("talk-\(number)")
        pid = try spawn(words, output: .file(outputPath), talk: .file(talkPath))
    }

    deinit {
        if status == nil { killAndReap(pid) }
    }

    var output: String { text(of: outputPath) }
    var talk: String { text(of: talkPath) }

    var isOver: Bool {
        if status == nil { status = TestBench.end(of: pid) }
        return status != nil
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// The end of it; a failed requirement, and SIGKILL, after `seconds`.
    func end(within seconds: Double = 60) async throws -> Outcome {
        let isOver = try await wait(seconds) { self.isOver }
        try #require(isOver, "still running after \(seconds) s; it says: \(talk.suffix(2000))")
        return Outcome(exit: status ?? -1, output: output, talk: talk, seconds: monotonicNow() - start)
    }

    // MARK: What it does to the machine

    var openDescriptors: Int { names(in: "/proc/\(pid)/fd").count }

    /// A field of /proc/PID/status, in KiB.
    func kibibytes(_ field: String) -> Int {
        for line in lines(of: "/proc/\(pid)/status") where line.hasPrefix("\(field):") {
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return 0
    }
}
