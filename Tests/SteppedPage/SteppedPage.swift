// The page of memory through which a test moves the time of a daemon, and sees when the daemon waits for more.
import WakeLoop
import WakeModel
import WakeSystem

/// A file that both processes map. Beside it a named pipe wakes the daemon.
package struct SteppedPage: ~Copyable {
    package static let variable = "WAKEBRIDGE_STEPPED"
    private static let size = 4096
    private static let deadlines = 24
    private static let asked = 64
    private static let answered = 72
    private static let clocks: [TimerClock] = [.monotonic, .boottime, .realtime, .boottimeAlarm, .realtimeAlarm]

    private let memory: MappedFile

    package init(_ path: String) throws(SystemError) { memory = try MappedFile(path, size: Self.size) }

    package static func bell(of path: String) -> String { path + ".bell" }

    private func instant(at place: Int) -> Instant { Instant(nanoseconds: Int64(bitPattern: memory.word(at: place))) }
    private func set(_ instant: Instant, at place: Int) {
        memory.setWord(UInt64(bitPattern: instant.nanoseconds), at: place)
    }

    // MARK: Time

    package var monotonic: Instant { instant(at: 0) }
    package var boottime: Instant { instant(at: 8) }
    package var realtime: Instant { instant(at: 16) }

    package func now(on clock: TimerClock) -> Instant {
        switch clock {
        case .monotonic: monotonic
        case .boottime, .boottimeAlarm: boottime
        case .realtime, .realtimeAlarm: realtime
        }
    }

    package func start(monotonic: Instant, boottime: Instant, realtime: Instant) {
        set(monotonic, at: 0)
        set(boottime, at: 8)
        set(realtime, at: 16)
        clearDeadlines()
    }

    /// All clocks go on by so much.
    package func move(by span: TimeSpan) {
        for place in [0, 8, 16] { set(instant(at: place) + span, at: place) }
    }

    // MARK: Deadlines

    /// An earlier life of the daemon may have left some.
    package func clearDeadlines() {
        for clock in Self.clocks { setDeadline(nil, on: clock) }
    }

    package func setDeadline(_ instant: Instant?, on clock: TimerClock) {
        let place = Self.deadlines + 8 * (Self.clocks.firstIndex(of: clock) ?? 0)
        set(instant ?? Instant(nanoseconds: .max), at: place)
    }

    /// How far the clocks go on to the first deadline; nil where there is none.
    package var distance: TimeSpan? {
        var shortest: TimeSpan?
        for (number, clock) in Self.clocks.enumerated() {
            let due = instant(at: Self.deadlines + 8 * number)
            guard due.nanoseconds != .max else { continue }
            shortest = min(shortest ?? TimeSpan(nanoseconds: .max), max(.zero, due - now(on: clock)))
        }
        return shortest
    }

    // MARK: Questions

    /// The number of the question whether the daemon waits, and of the one that it answered last.
    package var question: UInt64 {
        get { memory.word(at: Self.asked) }
        nonmutating set { memory.setWord(newValue, at: Self.asked) }
    }
    package var answer: UInt64 {
        get { memory.word(at: Self.answered) }
        nonmutating set { memory.setWord(newValue, at: Self.answered) }
    }
}
