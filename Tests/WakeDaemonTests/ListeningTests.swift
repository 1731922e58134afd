// From when on a device may not have been heard, by what an earlier life of the bridge has left.
import Testing
import WakeModel

@testable import WakeDaemon
@testable import WakeEngine

@Suite("Listening")
struct ListeningTests {
    private func time(_ seconds: Int64) -> WallTime { WallTime(microseconds: seconds * 1_000_000) }

    @Test("a link that was up may have been dead for 32 s, but not when it was armed or spoke; a clock may be set back")
    func bounds() {
        let rows: [(known: Listening?, lastWord: Int64?, until: Int64)] = [
            (.until(time(100)), nil, 100), (.until(time(100)), 150, 100), (.until(time(2_000)), nil, 1_000),
            (.since(time(100)), nil, 968), (.since(time(100)), 900, 968), (.since(time(100)), 990, 990),
            (.since(time(980)), nil, 980), (.since(time(980)), 970, 980), (.since(time(980)), 999, 999),
            (.since(time(2_000)), nil, 1_000), (nil, nil, 968), (nil, 990, 990),
        ]
        for row in rows {
            let until = Bridge.heardUntil(row.known, row.lastWord.map(time), time(1_000), unnoticed: .seconds(32))
            #expect(until == time(row.until), "\(row)")
        }
    }

    @Test("what came by a node was read as it came, until the life ended")
    func ofAccessories() {
        let known = Listening.since(time(100))
        #expect(Bridge.heardUntil(known, nil, time(1_000), unnoticed: .zero) == time(1_000))
    }
}
