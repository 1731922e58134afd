// `GET /v1/day`: everything that a trace can hold, for clients that record it: what devices do, and the machine, and handlers.
import WakeControl
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem
import WakeTrace

final class DayStreams {
    private let areDevicesReal: Bool
    private let journal: Journal
    private let clock: any WakeClock
    private let composer: LineComposer
    private let recorder: DayRecorder
    private var streams: [ControlStream] = []

    init(of engine: Engine, _ sources: LiveSources, on machine: any MachineReading) {
        (areDevicesReal, journal, clock, composer) = (
            sources.areReal, engine.journal, engine.turn.clock, engine.composer
        )
        recorder = DayRecorder(of: engine.catalog, on: machine)
        recorder.listener = self
        engine.turn.listeners.add(recorder as any InputListener)
        engine.turn.listeners.add(self as any EventSink)
    }

    func answer() throws(ControlRefusal) -> ControlResponse {
        guard areDevicesReal else {
            throw ControlRefusal(
                .conflict, code: "conflict",
                message: "the daemon plays a trace, and its clock is not that of the machine",
                advice: "record the devices alone, or copy the trace")
        }
        return .stream(contentType: "application/x-ndjson") { [self] stream in begin(stream) }
    }

    /// First what the header needs, then what holds already.
    private func begin(_ stream: ControlStream) {
        let stamp = clock.stamp()
        stream.send(DayLine.greeting(zone: recorder.zoneNow, seed: journal.seed, at: stamp.wall))
        for subject in recorder.begin(at: stamp) { stream.send(DayLine.deed(subject, at: stamp.wall)) }
        streams.append(stream)
        stream.onClose = { [self] stream in
            streams.removeAll { $0 === stream }
            if streams.isEmpty { recorder.end() }
        }
    }
}

extension DayStreams: DayListener {
    func hear(_ subject: TraceOperation.Subject, at time: WallTime) {
        send(DayLine.deed(subject, at: time))
    }

    private func send(_ line: [UInt8]) { for stream in streams { stream.send(line) } }
}

extension DayStreams: EventSink {
    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        // A replay decides anew what comes due.
        guard !streams.isEmpty, !event.isOccasion else { return }
        let line =
            sequence.map { composer.compose(event, as: $0, budget: .zero) } ?? composer.compose(unnumbered: event)
        send(line)
    }
}

extension DeviceEvent {
    fileprivate var isOccasion: Bool { if case .occasion = kind { true } else { false } }
}
