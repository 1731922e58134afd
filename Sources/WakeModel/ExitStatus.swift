// How a process ended, in the words of whoever waited for it and of whoever decides what follows.

public enum ExitStatus: Hashable, Sendable {
    case exited(code: Int32)
    /// By the number of the signal.
    case signalled(Int32)
}
