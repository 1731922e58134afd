// Signals as this process treats them: SIGPIPE is no news, and what the loop watches is blocked everywhere else.
import CLinux
import Glibc

public enum Signals {
    public static let terminate = Int32(SIGTERM)

    /// A peer that has gone shows as `.closed` on a write, for the whole process, instead of ending it.
    public static func ignoreBrokenPipes() { _ = clinux_ignore_signal(clinux_sigpipe) }

    /// A write to a peer that has gone ends the process, though whoever started us, such as systemd, ignores that.
    public static func heedBrokenPipes() { _ = clinux_heed_signal(clinux_sigpipe) }

    /// Whether whoever started us, or we ourselves, want nothing to follow from it.
    public static func isIgnored(_ number: Int32) -> Bool { clinux_ignores_signal(number) == 1 }

    /// Blocks one signal in the calling thread and in every thread it starts later; call it before there are others.
    public static func block(_ number: Int32) throws(SystemError) {
        _ = try attemptC { clinux_block_signal(number) }.get("block", "signal \(number)")
    }
}
