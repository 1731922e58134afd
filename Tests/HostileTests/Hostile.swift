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

    /// Attacks by a socket that the daemon holds for the attacker; each has its name and its parts.
    static let ofHeldSockets = [
        HeldSocketAttack("linger-held", ["40"]), HeldSocketAttack("linger-held", ["40", "1"]),
        HeldSocketAttack("filled", []), HeldSocketAttack("linger-channel", ["40"], fds: "pass"),
        HeldSocketAttack("lock-held", ["40"]),
    ]

    static func besiege(by attack: HeldSocketAttack) async throws -> Siege {
        let siege = try Siege(attack.description)
        let line = try await attack.fills ? siege.filledLine(40) : siege.heldLine(fds: attack.fds)
        siege.admit(attack.name, attack.words, line)
        return siege
    }
}

struct HeldSocketAttack: CustomStringConvertible, Sendable {
    let name: String
    let words: [String]
    let fds: String
    var fills: Bool { name == "filled" }
    var description: String { ([name] + words).joined(separator: " ") }

    init(_ name: String, _ words: [String], fds: String = "inherit") {
        (self.name, self.words, self.fds) = (name, words, fds)
    }
}
