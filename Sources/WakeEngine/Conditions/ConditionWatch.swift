// A condition's source while it is open: the part that all of them have in common.

/// Reports what is true at once when it is made, and then each change. Releasing it closes all that it opened.
package class ConditionWatch {
    private let listener: (Bool) -> Void
    /// The last report.
    package private(set) var isTrue: Bool?

    init(_ listener: @escaping (Bool) -> Void) { self.listener = listener }

    /// Reports what was found, where it differs from what was reported last.
    final func report(_ found: Bool) {
        guard found != isTrue else { return }
        isTrue = found
        listener(found)
    }

    /// The wall clock was set.
    func clockWasSet() {}

    /// A person attached to a handler, or none is attached any more.
    func attachmentChanged(_ isAttached: Bool) {}
}
