// The kernel's alarms that end the sleep of the machine: one on each clock, made when an alarm first asks for it.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Armed while an alarm with `wakes_machine` is pending. The turn that they cause finds the alarm due.
final class MachineWakeTimers {
    private enum State {
        case unused
        case made(boottime: Timer, wall: Timer)
        /// No hardware clock, or no right to use it, as the log reports: such alarms come when the machine resumes.
        case refused
    }

    private let loop: EventLoop
    private let turn: Turn
    private var state = State.unused

    init(on loop: EventLoop, of turn: Turn) { (self.loop, self.turn) = (loop, turn) }

    func arm(_ wake: MachineWake) {
        if case .unused = state { state = make() }
        guard case .made(let boottime, let wall) = state else { return }
        arm(boottime, at: wake.boottime)
        arm(wall, at: wake.wall.map { .zero + .microseconds($0.microseconds) })
    }

    private func arm(_ timer: Timer, at instant: Instant?) {
        if let instant { timer.arm(at: instant) } else { timer.disarm() }
    }

    private func make() -> State {
        do throws(SystemError) {
            return .made(
                boottime: try loop.timer(on: .boottimeAlarm, of: turn) { $0.schedule(.tick) },
                wall: try loop.timer(on: .realtimeAlarm, of: turn) { $0.schedule(.tick) })
        } catch {
            Log("agenda").warning(
                "\(error.description); alarms with wakes_machine come when the machine resumes: to wake it takes a hardware clock and CAP_WAKE_ALARM"
            )
            return .refused
        }
    }
}
