// A trace that is played step by step: each event is shown, and comes when Enter is pressed.
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem
import WakeTrace

/// Each line of standard input lets one event come; its end lets all others come.
final class EventSteps: ReplayGate {
    private let turn: Turn
    private let loop: EventLoop
    private let lines: HandlerLines
    private let input: FileDescriptor
    private var watch: Watch?
    /// How many events may come.
    private var steps = 0
    private var hasInputEnded = false
    /// The line of the event that was shown last.
    private var shown = 0

    private static let chunk = 4_096

    init(_ turn: Turn, on loop: EventLoop, showing lines: HandlerLines) throws(SystemError) {
        (self.turn, self.loop, self.lines) = (turn, loop, lines)
        input = try FileDescriptor.duplicate(of: 0)
        do throws(SystemError) {
            watch = try loop.watch(input.raw, for: .readable, of: self) { $0.read() }
        } catch {
            // The loop watches no file and no /dev/null; these never keep a reader waiting.
            guard error.errno == .notPermitted else { throw error }
            while !hasInputEnded { read() }
        }
    }

    deinit { watch?.cancel() }

    func admits(_ event: TraceOperation, of header: TraceHeader) -> Bool {
        let mayCome = steps > 0 || hasInputEnded
        // Output of a handler about the event before comes above the next one.
        if shown != event.line, mayCome || turn.isEverybodyAsleep {
            shown = event.line
            lines.say("next, \(event.sentence(in: header))")
        }
        return mayCome
    }

    func pass() { steps = max(0, steps - 1) }

    private func read() {
        var typed: [UInt8] = []
        switch try? input.read(appendingTo: &typed, limit: Self.chunk) {
        case .bytes?: steps += typed.count { $0 == UInt8(ascii: "\n") }
        case .wouldBlock?: break
        case .endOfFile?, .closed?, nil:
            hasInputEnded = true
            watch?.cancel()
            watch = nil
        }
        loop.requestTurn()
    }
}
