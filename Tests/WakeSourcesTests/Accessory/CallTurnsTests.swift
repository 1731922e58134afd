// Whose turn it is to be called, and what the answers mean.
import Testing
import WakeLoop
import WakeModel

@testable import WakeSources

private let (one, two, three) = ("/org/bluez/hci0/dev_1", "/org/bluez/hci0/dev_2", "/org/bluez/hci0/dev_3")
private let elsewhere = "/org/bluez/hci1/dev_1"

/// Those who wait, and who is asked of their adapters.
private final class Rows {
    private var turns = CallTurns()

    var isAnybodyWaiting: Bool { turns.isAnybodyWaiting }

    func add(_ path: String, _ number: Int) { turns.add(path, number) }
    func begin() -> [String] { turns.begin(at: .zero).map(\.path) }
    func giveUp(_ number: Int) { turns.giveUp(number) }
    func end(_ path: String, _ number: Int) -> Bool {
        turns.end(CallTurns.Turn(path: path, number: number, askedAt: .zero))
    }
    func end(_ path: String) { turns.end(path) }
    func endAll() -> [String] { turns.endAll().map(\.path) }
}

@Suite("Turns of calls")
struct CallTurnsTests {
    private let turns = Rows()

    @Test("an adapter is asked for one device at a time, each adapter for one of its own")
    func takesTurns() {
        turns.add(one, 1)
        turns.add(two, 2)
        turns.add(elsewhere, 3)
        #expect(turns.begin() == [one, elsewhere])
        #expect(turns.begin() == [])
        #expect(turns.end(one, 1))
        #expect(turns.begin() == [two])
        #expect(!turns.isAnybodyWaiting)
    }

    @Test("who waits longest comes first, and who has had a turn waits behind all others")
    func isFair() {
        for (number, path) in [one, two, three].enumerated() { turns.add(path, number) }
        var order: [String] = []
        for number in 0..<6 {
            let begun = turns.begin()
            #expect(begun.count == 1 && turns.end(begun[0], order.count))
            order += begun
            turns.add(begun[0], number + 3)
        }
        #expect(order == [one, two, three, one, two, three])
    }

    @Test(
        "given up while it waits, it has no turn; given up while it is asked, its adapter is busy until it is answered")
    func givesUp() {
        turns.add(one, 1)
        turns.add(two, 2)
        turns.add(three, 3)
        #expect(turns.begin() == [one])
        turns.giveUp(1)
        turns.giveUp(2)
        #expect(turns.begin() == [])
        #expect(turns.end(one, 1))
        #expect(turns.begin() == [three])
    }

    @Test("a late answer ends no other device's turn, nor the next one of the same device")
    func ignoresLate() {
        turns.add(one, 1)
        #expect(turns.begin() == [one])
        #expect(turns.endAll() == [one])
        turns.add(one, 2)
        #expect(turns.begin() == [one])
        #expect(!turns.end(one, 1))
        turns.add(two, 3)
        #expect(turns.begin() == [])
        #expect(turns.end(one, 2))
        #expect(turns.begin() == [two])
    }

    @Test("what is connected otherwise, or has gone, neither waits nor keeps its adapter busy")
    func endsOtherwise() {
        turns.add(one, 1)
        turns.add(two, 2)
        turns.add(three, 3)
        #expect(turns.begin() == [one])
        turns.end(two)
        turns.end(one)
        #expect(turns.begin() == [three])
        #expect(turns.endAll() == [three] && turns.endAll() == [])
    }

    @Test(
        "a device that is out of reach, or falls silent, is absent",
        arguments: [
            "br-connection-page-timeout", "br-connection-timeout", "br-connection-canceled",
            "br-connection-adapter-not-powered", "Host is down (112)", "Connection timed out (110)",
        ])
    func isAbsent(message: String) {
        #expect(BusError(name: "org.bluez.Error.Failed", message: message).isAbsence)
    }

    @Test("a device that refuses is not absent", arguments: ["br-connection-key-missing", "br-connection-refused"])
    func isThere(message: String) {
        #expect(!BusError(name: "org.bluez.Error.Failed", message: message).isAbsence)
    }
}
