// Hundreds of random lives of a link: whatever befalls it, every word of the peripheral is raised once or lies in one gap.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link walk")
struct LinkWalkTests {
    @Test("every word that was heard is raised once and in order; every other lies in exactly one gap; nothing hangs")
    func accounts() {
        var words = 0
        var connects = 0
        var warnings = 0
        for seed in UInt64(1)...500 {
            let world = walk(seed)
            guard world.accounts.complaints.isEmpty else {
                for line in walk(seed, keepsTrace: true).trace.suffix(200) { print(line) }
                Issue.record("seed \(seed): \(world.accounts.complaints.prefix(5))")
                return
            }
            words += world.accounts.words.count
            connects += world.accounts.connects
            warnings += world.accounts.warnings
        }
        #expect(words > 200_000 && connects > 5000 && warnings > 100)
        print("500 lives of a link: \(words) words, \(connects) times connected, \(warnings) times deaf")
    }

    private func walk(_ seed: UInt64, keepsTrace: Bool = false) -> LinkWorld {
        let world = LinkWorld(seed: seed)
        world.keepsTrace = keepsTrace
        for _ in 0..<100 where world.accounts.complaints.isEmpty {
            world.befall()
            world.dally()
        }
        world.calm()
        world.run(for: .seconds(150))
        world.close()
        return world
    }
}
