// What a run needs besides the bridge: the handler, and a clock that can be set for one process alone. Both are C, and built here.
import Glibc
import TestBench
import WakeSystem

final class Programs {
    let handler: String
    let clock: MovableClock?
    private let folder: String

    /// Nil where there is no C compiler.
    init?() {
        folder = makeDirectory("/tmp/wakebridge-break-programs.XXXXXX")
        handler = "\(folder)/handler"
        guard compile("Break/handler.c", ["-O2"], to: handler) else { return nil }
        let shim = "\(folder)/clock.so"
        let isBuilt = compile("Break/clock.c", ["-O2", "-shared", "-fPIC"], to: shim)
        clock = isBuilt ? MovableClock(shim: shim, file: "\(folder)/clock") : nil
    }

    deinit { Directory.removeTree(folder) }

    /// Runs the reckoning, which shares no code with the bridge; what it prints, and its exit status.
    static func reckon(_ words: String...) throws -> (exit: Int32, output: String) {
        let (exit, output, talk) = try Child(["python3", "\(packageFolder)/Tests/Break/reckon.py"] + words).finish()
        return (exit, output + talk)
    }
}

/// The wall clock of who is started with it; this machine's own is left alone.
final class MovableClock {
    private let shim: String
    private let file: String
    private var offset = 0
    /// Held open, so that the other end of the pipe never hears of an end.
    private let steps: Int32

    init(shim: String, file: String) {
        (self.shim, self.file) = (shim, file)
        put([UInt8](repeating: 0, count: 8), at: file)
        mkfifo("\(file).steps", 0o644)
        steps = open("\(file).steps", O_RDWR | O_CLOEXEC | O_NONBLOCK)
    }

    deinit { close(steps) }

    /// Words that start a program with it.
    var ahead: [String] { ["env", "LD_PRELOAD=\(shim)", "BREAK_CLOCK=\(file)"] }

    /// In place, because the file is mapped by who reads it.
    func step(_ seconds: Int) {
        offset += seconds
        var nanoseconds = Int64(offset) * 1_000_000_000
        let clock = open(file, O_WRONLY | O_CLOEXEC)
        pwrite(clock, &nanoseconds, 8, 0)
        close(clock)
        write(steps, "x", 1)
    }
}
