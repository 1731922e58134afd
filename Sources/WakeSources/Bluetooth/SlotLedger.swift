// How many links each adapter carries at once, as it has shown by refusing one more; pure. Controllers do not tell: most carry
// five to seven, the smallest three.
import WakeModel

struct SlotLedger: Hashable, Sendable {
    private struct Refusal: Hashable {
        /// How many it carried then.
        var links: Int
        var at: Instant
    }

    private var refusals: [String: Refusal] = [:]

    /// What it refused once may have been somebody's link that is forgotten by now.
    static let memory = TimeSpan.seconds(60)

    /// - Parameter links: those of this adapter that are up.
    mutating func refuse(_ adapter: String, carrying links: Int, at now: Instant) {
        // One that refuses its first link is not full, but ill.
        refusals[adapter] = links > 0 ? Refusal(links: links, at: now) : nil
    }

    func hasRoom(_ adapter: String, carrying links: Int, at now: Instant) -> Bool {
        guard let refusal = refusals[adapter] else { return true }
        return links < refusal.links || now - refusal.at > Self.memory
    }

    /// How many it carried when it refused another; nil where it has refused none, or carries more by now.
    func most(of adapter: String, carrying links: Int) -> Int? {
        refusals[adapter].flatMap { links > $0.links ? nil : $0.links }
    }

    func hasRefused(_ adapter: String) -> Bool { refusals[adapter] != nil }

    mutating func forget(_ adapter: String) { refusals[adapter] = nil }
}
