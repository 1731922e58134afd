// A handler that names each of its alarms anew: the numbers of those that are over go to the next ones.
import Testing
import WakeAgenda
import WakeModel

@testable import WakeEngine

@Suite("Origins of scheduled events")
struct EntryOriginTests {
    private let handler = HandlerID(rawValue: 1)
    private func key(_ id: String, _ source: AgendaSource = .alarm) -> AgendaKey { AgendaKey(handler, source, id) }
    private let first = EventOrigin(rawValue: 7)

    private func withOneRaised(_ body: (inout EntryOrigins) -> Void) -> EventOrigin? {
        var origins = EntryOrigins()
        origins.set(first, for: key("tea"))
        origins.raise(key("tea"), as: Sequence(1))
        body(&origins)
        return origins.reuse(for: key("next"))
    }

    @Test("an origin is reused when its alarm is over and gone, whichever comes first")
    func reused() {
        let gone = withOneRaised {
            $0.conclude(Sequence(1), .acknowledged(nil))
            $0.release(key("tea"))
        }
        let cancelled = withOneRaised {
            $0.release(key("tea"))
            $0.conclude(Sequence(1), .acknowledged(nil))
        }
        #expect(gone == first && cancelled == first)
    }

    @Test("while its event waits, is tried again, or while the alarm stands, it is not")
    func kept() {
        #expect(withOneRaised { $0.release(key("tea")) } == nil)
        #expect(withOneRaised { $0.conclude(Sequence(1), .acknowledged(nil)) } == nil)
        let crashed = withOneRaised {
            $0.release(key("tea"))
            $0.conclude(Sequence(1), .crashed)
        }
        #expect(crashed == nil)
    }

    @Test(
        "one whose event is told in a gap or lies among the dead letters keeps its name",
        arguments: [Conclusion.dropped, .deadLettered])
    func retired(conclusion: Conclusion) {
        let reused = withOneRaised {
            $0.conclude(Sequence(1), conclusion)
            $0.release(key("tea"))
        }
        #expect(reused == nil)
    }

    @Test(
        "after a start those without an entry are free, but for what is still owed, and only to the same handler and source"
    )
    func restored() {
        var origins = EntryOrigins()
        let known = (1...4).map { (origin: EventOrigin(rawValue: $0), key: key("a\($0)")) }
        origins.restore(known, keeping: [EventOrigin(rawValue: 3)])
        origins.releaseAll(but: [AgendaRow(key: key("a1"), value: [])])
        #expect(origins.reuse(for: key("b", .job)) == nil)
        #expect(origins.reuse(for: AgendaKey(HandlerID(rawValue: 2), .alarm, "b")) == nil)
        let reused = [origins.reuse(for: key("b")), origins.reuse(for: key("c")), origins.reuse(for: key("d"))]
        #expect(Set(reused.compactMap { $0?.rawValue }) == [2, 4] && origins[key("a1")]?.rawValue == 1)
    }
}
