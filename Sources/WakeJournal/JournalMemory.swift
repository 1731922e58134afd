// The databases of a journal that has no file, kept while no journal uses them: the next one continues as from files.
import WakeModel

/// Belongs to one journal after the other. The one before must be closed.
public final class JournalMemory {
    private var disk: Database?
    private var run: Database?

    public init() {}

    /// The effect of a reboot on the runtime directory.
    public func forgetRun() { run = nil }

    subscript(which: Durability) -> Database? {
        get { which == .disk ? disk : run }
        set { if which == .disk { disk = newValue } else { run = newValue } }
    }
}
