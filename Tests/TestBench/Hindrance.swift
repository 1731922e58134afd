// A test that cannot run on this machine is skipped, and the reason is looked for when its turn comes.
import Synchronization
import Testing

private let printed = Mutex<Set<String>>([])

extension Trait where Self == ConditionTrait {
    /// Skips where there is a reason, and prints that once. Swift Testing evaluates a comment in every process that lists tests,
    /// and a condition only for a test that was chosen.
    package static func enabled(
        unless hindrance: @autoclosure @escaping @Sendable () -> String?, at place: SourceLocation = #_sourceLocation
    ) -> Self {
        .enabled(if: allows(hindrance()), "the reason is printed", sourceLocation: place)
    }
}

private func allows(_ hindrance: String?) -> Bool {
    guard let hindrance else { return true }
    let isNew = printed.withLock { $0.insert(hindrance).inserted }
    if isNew { print("SKIPPED: \(hindrance)") }
    return false
}
