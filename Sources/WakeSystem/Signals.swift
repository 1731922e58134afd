// Signals of this process: SIGPIPE is ignored, and signals that the loop watches are blocked everywhere else.
import CLinux
import Glibc

public enum Signals {
    public static let terminate = Int32(SIGTERM)

    /// Makes a write to a closed peer return `.closed` instead of ending the process.
    public static func ignoreBrokenPipes() { _ = clinux_ignore_signal(clinux_sigpipe) }

    /// Makes a write to a closed peer end the process, even if the parent process, such as systemd, ignores SIGPIPE.
    public static func heedBrokenPipes() { _ = clinux_heed_signal(clinux_sigpipe) }

    /// Whether the parent process, or this one, ignores the signal.
    public static func isIgnored(_ number: Int32) -> Bool { clinux_ignores_signal(number) == 1 }

    /// Names on standard error the signal by which the program ends itself, such as that of a trap, before it takes effect.
    public static func reportFatal() { clinux_report_fatal_signals() }

    /// Blocks one signal in the calling thread and in every thread that it starts later; call it before there are others.
    public static func block(_ number: Int32) throws(SystemError) {
        _ = try attemptC { clinux_block_signal(number) }.get("block", "signal \(number)")
    }
}
