// How a process ended: with an exit code or by a signal.

public enum ExitStatus: Hashable, Sendable {
    case exited(code: Int32)
    /// Ended by the signal with this number.
    case signalled(Int32)
}
