// A condition's source while it is open: the part that all of them have in common.

/// The reader of a condition; both share one watch.
package enum ConditionReader: Hashable {
    /// Entries that wait for it or rely on it.
    case agenda
    /// The core, for the handlers whose manifests require power, and for extension time.
    case core
}

/// Looks at once when it is made, and then reports each change. Releasing it closes all that it opened.
package class ConditionWatch {
    private var listeners: [ConditionReader: (Bool) -> Void] = [:]
    /// The last report.
    package private(set) var isTrue: Bool?

    /// Reports what is true within this call, if that is known, and each change from then on.
    final func add(_ reader: ConditionReader, _ listener: @escaping (Bool) -> Void) {
        listeners[reader] = listener
        if let isTrue { listener(isTrue) }
    }

    final func remove(_ reader: ConditionReader) { listeners[reader] = nil }
    final var readers: Set<ConditionReader> { Set(listeners.keys) }

    /// Serves the readers of the other one in its place; each gets a report only if it differs.
    final func replace(_ other: ConditionWatch) {
        listeners = other.listeners
        guard let isTrue, isTrue != other.isTrue else { return }
        for listener in listeners.values { listener(isTrue) }
    }

    /// Reports what was found, where it differs from what was reported last.
    final func report(_ found: Bool) {
        guard found != isTrue else { return }
        isTrue = found
        for listener in listeners.values { listener(found) }
    }

    /// The wall clock was set.
    func clockWasSet() {}

    /// A person attached to a handler, or none is attached any more.
    func attachmentChanged(_ isAttached: Bool) {}
}
