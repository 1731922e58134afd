// The suite of all attacks, and one attack of a handler from the quiet phase before it to what it leaves.
import TestBench
import Testing

/// No attack of a file may run beside another.
@Suite(
    "Hostile handlers and users", .serialized,
    .enabled(if: Machine.isRoot && Machine.freezes, "needs root, and cgroups of version 2 that can be made"))
enum Hostile {
    /// An attack of a handler, from the quiet phase before it to what is left after it.
    /// - Parameter kind: stands behind its name in the figures.
    static func withstand(
        _ attack: String, _ words: [String] = [], _ more: String = "", kind: String = "", patience: Double = 30,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let siege = try Siege(attack + kind)
        siege.admit(attack, words, more)
        try await siege.stand(patience: patience).check(at: location)
        try await siege.end()
    }
}
