// How many links each adapter carries at once, as it has shown by refusing one more; pure. Controllers do not report
// it: most carry five to seven, the smallest three.
import WakeModel

struct ConnectionLimits: Hashable, Sendable {
    private struct Refusal: Hashable {
        /// How many it carried then.
        var links: Int
        var at: Instant
        /// The refusal has elapsed.
        var isOver = false
    }

    private var refusals: [String: Refusal] = [:]
    private var ill: Set<String> = []

    /// A refusal is forgotten after a while: the link that filled the adapter may be gone.
    var memory = TimeSpan.seconds(60)

    /// - Parameter links: those of this adapter that are up.
    /// - Returns: false where the same has happened before.
    mutating func refuse(_ adapter: String, carrying links: Int, at now: Instant) -> Bool {
        // An adapter that refuses its first link is not full, but ill.
        guard links > 0 else { return ill.insert(adapter).inserted }
        ill.remove(adapter)
        let isNews = refusals[adapter]?.links != links
        refusals[adapter] = Refusal(links: links, at: now)
        return isNews
    }

    /// When the next refusal is over, for devices that wait for room.
    var nextEnd: Instant? { refusals.values.filter { !$0.isOver }.map { $0.at + memory }.min() }

    /// The adapters whose refusal is over now.
    mutating func end(at now: Instant) -> [String] {
        let over = refusals.filter { !$0.value.isOver && now >= $0.value.at + memory }.map(\.key)
        for adapter in over { refusals[adapter]?.isOver = true }
        return over
    }

    func hasRoom(_ adapter: String, carrying links: Int, at now: Instant) -> Bool {
        guard let refusal = refusals[adapter] else { return true }
        return refusal.isOver || links < refusal.links || now - refusal.at > memory
    }

    /// How many it carried when it refused another; nil where it has refused none, or carries more by now.
    func most(of adapter: String, carrying links: Int) -> Int? {
        refusals[adapter].flatMap { links > $0.links ? nil : $0.links }
    }

    func hasRefused(_ adapter: String) -> Bool { refusals[adapter].map { !$0.isOver } ?? false }

    mutating func forget(_ adapter: String) {
        refusals[adapter] = nil
        ill.remove(adapter)
    }
}
