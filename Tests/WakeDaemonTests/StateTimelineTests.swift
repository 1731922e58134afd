// A handler's timeline: what it was when, how its processes ended, and its bounds.
import Testing
import WakeCore
import WakeModel

@testable import WakeAPI

@Suite("The timeline of a handler") struct StateTimelineTests {
    private static let begin = WallTime(microseconds: 1_800_000_000_000_000)

    private func at(_ seconds: Double) -> WallTime {
        WallTime(microseconds: Self.begin.microseconds + Int64(seconds * 1_000_000))
    }

    private func stamp(_ seconds: Double) -> Stamp {
        let instant = Instant(nanoseconds: Int64(seconds * 1_000_000_000))
        return Stamp(
            moment: Moment(monotonic: instant, boottime: instant), wall: at(seconds), isClockSynchronized: true)
    }

    private func boottime(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func timeline(_ moves: [(second: Double, from: HandlerState, to: HandlerState, because: String)])
        -> StateTimeline
    {
        var timeline = StateTimeline(.none, at: Self.begin)
        for (second, from, to, because) in moves {
            timeline.record(.moved(from: from, to: to, because: because), at: stamp(second))
        }
        return timeline
    }

    private func told(_ spans: [StateTimeline.Span]) -> [String] {
        spans.map { span in
            let from = span.from.span(since: Self.begin).wholeMilliseconds
            return "\(span.state.word) \(from)-\(span.until.span(since: Self.begin).wholeMilliseconds)"
        }
    }

    @Test("a wake is one span of being awake, from the start or the thaw to the freeze")
    func wake() {
        let timeline = timeline([
            (1, .idle, .launching, "wake"), (1.2, .launching, .active, "ready"), (1.5, .active, .suspending, "done"),
            (1.6, .suspending, .suspended, "frozen"), (5, .suspended, .active, "wake"),
            (5.1, .active, .suspending, "done"), (5.2, .suspending, .suspended, "frozen"),
        ])
        let spans = timeline.spans(from: at(-10), until: at(10))
        #expect(
            told(spans) == [
                "none 0-1000", "awake 1000-1600", "frozen 1600-5000", "awake 5000-5200", "frozen 5200-10000",
            ])
        #expect(spans.awake == .milliseconds(800))
        #expect(told(timeline.spans(from: at(1.5), until: at(2))) == ["awake 1500-1600", "frozen 1600-2000"])
    }

    @Test("a penalty is a span of its own that ends by itself, or with a start")
    func held() {
        var timeline = timeline([
            (1, .idle, .launching, "wake"), (2, .launching, .terminating, "exit-1"),
            (2.5, .terminating, .idle, "exit-1"),
        ])
        timeline.record(.held(until: boottime(6), because: "exit-1"), at: stamp(2.5))
        #expect(told(timeline.spans(from: at(2.5), until: at(4))) == ["held 2500-4000"])
        #expect(told(timeline.spans(from: at(2.5), until: at(9))) == ["held 2500-6000", "none 6000-9000"])
        timeline.record(.moved(from: .idle, to: .launching, because: "start"), at: stamp(5))
        #expect(told(timeline.spans(from: at(2.5), until: at(9))) == ["held 2500-5000", "awake 5000-9000"])
    }

    @Test("an overrun's handler is awake until it is frozen, and held from then on")
    func overrun() {
        var timeline = timeline([(1, .idle, .active, "wake"), (13, .active, .suspending, "overrun")])
        timeline.record(.held(until: boottime(20), because: "overrun"), at: stamp(13))
        timeline.record(.moved(from: .suspending, to: .suspended, because: "overrun"), at: stamp(13.1))
        #expect(
            told(timeline.spans(from: at(0), until: at(30))) == [
                "none 0-1000", "awake 1000-13100", "held 13100-20000", "frozen 20000-30000",
            ])
    }

    @Test("a killed process, one that ends by itself and one that cannot start are told with a sentence")
    func ends() {
        let timeline = timeline([
            (1, .idle, .launching, "wake"), (2, .launching, .idle, "launch-failed"), (3, .idle, .active, "wake"),
            (4, .active, .terminating, "exit-3"), (5, .terminating, .idle, "exit-3"), (6, .idle, .active, "wake"),
            (7, .active, .terminating, "overrun"), (8, .terminating, .idle, "overrun"),
        ])
        #expect(timeline.ends.map(\.reason) == ["launch-failed", "exit-3", "overrun"])
        #expect(timeline.ends.map(\.time) == [at(2), at(4), at(7)])
        #expect(timeline.ends[1].sentence == "it ended by itself with status 3")
    }

    @Test("every reason for which a process can end is told in a sentence of its own")
    func sentences() {
        let reasons: [EndReason] = [
            .launchTimeout, .launchFailed(""), .exhausted(""), .overrun, .taskLeak, .flood, .watchdog, .lockHeld,
            .escaped, .unfreezable, .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator,
            .restarted, .deadline, .memory, .thermal, .stalled, .listensAsleep, .exit(.exited(code: 1)),
            .exit(.signalled(9)),
        ]
        for reason in reasons {
            let sentence = StateTimeline.End(time: Self.begin, reason: reason.wireName).sentence
            #expect(sentence != reason.wireName && sentence.contains(" "))
        }
    }

    @Test("a day of a wake every second stays within its bounds, and is awake for as long as it was")
    func busyDay() {
        var timeline = StateTimeline(.frozen, at: Self.begin)
        for second in 0..<86_400 {
            let start = Double(second)
            timeline.record(.moved(from: .suspended, to: .active, because: "wake"), at: stamp(start))
            timeline.record(.moved(from: .active, to: .suspended, because: "done"), at: stamp(start + 0.25))
        }
        let spans = timeline.spans(from: at(0), until: at(86_400))
        #expect(spans.count < 2_000)
        #expect(abs(spans.awake.wholeMilliseconds - 21_600_000) < 2_000)
        #expect(spans.length == .seconds(86_400))
        for (one, next) in zip(spans, spans.dropFirst()) { #expect(one.until == next.from) }
    }
}
