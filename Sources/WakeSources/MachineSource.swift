// The stepping of device machines, shared by all sources. Inputs run one after the other, and effects in their order.
// A change of how far a device is followed is recorded. One timer serves all deadlines.
import WakeLoop
import WakeModel

/// The state of a device, from facts to effects: pure.
protocol DeviceMachine {
    associatedtype Input: DeviceMachineInput
    associatedtype Effect
    mutating func step(_ input: Input, at stamp: Stamp) -> [Effect]
    /// The next deadline without another input, on ``clock``.
    var deadline: Instant? { get }
    static var clock: TimerClock { get }
    /// How far the device is followed; nil if it never was.
    var listening: Listening? { get }
}

protocol DeviceMachineInput {
    /// A deadline has come.
    static var tick: Self { get }
}

/// A device that a source watches. It stays while the device is away.
protocol WatchedDevice {
    associatedtype Machine: DeviceMachine
    var device: Device { get set }
    var machine: Machine { get set }
    /// The listening that was recorded last.
    var recordedListening: Listening? { get set }
    /// The deadlines without another input: the machine's, and those that the entry has beside it.
    var deadlines: DeviceDeadlines { get }
}

struct DeviceDeadlines: Hashable {
    var machine: Instant?
    var port: Instant?
}

/// In place: to read a part of an entry through its dictionary copies all of it.
extension WatchedDevice {
    fileprivate mutating func step(_ input: Machine.Input, at stamp: Stamp) -> (DeviceDeadlines, [Machine.Effect]) {
        (deadlines, machine.step(input, at: stamp))
    }

    /// Returns the listening to record now; nil if it is recorded already. A value moves the instant since which a
    /// device is followed; only the next end of that is worth a record.
    fileprivate mutating func settle() -> (DeviceDeadlines, Listening?) {
        guard let listening = machine.listening, recordedListening != listening else { return (deadlines, nil) }
        if case .since = recordedListening, case .since = listening { return (deadlines, nil) }
        recordedListening = listening
        return (deadlines, listening)
    }
}

/// Inputs that wait for the one that is being stepped: an effect may cause the next input.
struct StepQueue<Input> {
    fileprivate var inputs: [(uri: String, input: Input, stamp: Stamp)] = []
    fileprivate var isStepping = false
    fileprivate var hasChangedDeadlines = false
}

protocol MachineSource: AnyObject {
    associatedtype Entry: WatchedDevice
    /// By URI.
    var watched: [String: Entry] { get set }
    var steps: StepQueue<Entry.Machine.Input> { get set }
    var host: any SourceHost { get }
    func perform(_ effect: Entry.Machine.Effect, of uri: String)
    /// A deadline beside those of the devices, which a device's step may change.
    var ownDeadline: Instant? { get }
    func rearm()
}

extension MachineSource {
    func step(_ uri: String, _ input: Entry.Machine.Input, at stamp: Stamp? = nil) {
        steps.inputs.append((uri, input, stamp ?? host.clock.stamp()))
        guard !steps.isStepping else { return }
        steps.isStepping = true
        while !steps.inputs.isEmpty {
            let next = steps.inputs.removeFirst()
            let own = ownDeadline
            guard let (before, effects) = watched[next.uri]?.step(next.input, at: next.stamp) else { continue }
            for effect in effects { perform(effect, of: next.uri) }
            let settled = watched[next.uri]?.settle()
            if let listening = settled?.1 { host.record(listening, of: next.uri) }
            if settled?.0 != before || ownDeadline != own { steps.hasChangedDeadlines = true }
        }
        steps.isStepping = false
        // Most steps change no deadline, and to look at those of all devices costs more the more there are.
        guard steps.hasChangedDeadlines else { return }
        steps.hasChangedDeadlines = false
        rearm()
    }

    func tickMachines(at now: Stamp) {
        let instant = Entry.Machine.clock == .boottime ? now.moment.boottime : now.moment.monotonic
        for (uri, entry) in watched {
            if let due = entry.machine.deadline, due <= instant { step(uri, .tick, at: now) }
        }
    }

    var nextMachineDeadline: Instant? { watched.values.compactMap(\.machine.deadline).min() }
}

extension Timer {
    /// Nil disarms it.
    func rearm(at instant: Instant?) {
        if let instant { arm(at: instant) } else { disarm() }
    }
}
