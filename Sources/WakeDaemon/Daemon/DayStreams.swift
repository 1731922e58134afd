// `GET /v1/day`: everything that a trace can hold, for clients that record it: what devices do, and the machine, and handlers.
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem
import WakeTrace

final class DayStreams {
    private unowned let daemon: Daemon
    private let recorder: DayRecorder
    private var streams: [ControlStream] = []

    init(of daemon: Daemon) {
        self.daemon = daemon
        recorder = DayRecorder(of: daemon.bridge.catalog, on: daemon.agenda)
        recorder.listener = self
        daemon.bridge.turn.listeners.add(recorder as any InputListener)
        daemon.bridge.turn.listeners.add(self as any EventSink)
    }

    func answer() throws(ControlRefusal) -> ControlResponse {
        guard daemon.sources.areReal else {
            throw ControlRefusal(
                .conflict, code: "conflict",
                message: "the daemon plays a trace, and its clock is not that of the machine",
                advice: "record the devices alone, or copy the trace")
        }
        return .stream(contentType: "application/x-ndjson") { [self] stream in begin(stream) }
    }

    /// First what the header needs, then what holds already.
    private func begin(_ stream: ControlStream) {
        let stamp = daemon.bridge.turn.clock.stamp()
        stream.send(DayLine.greeting(zone: recorder.zoneNow, seed: daemon.bridge.journal.seed, at: stamp.wall))
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
        let composer = daemon.bridge.engine.composer
        let line =
            sequence.map { composer.compose(event, as: $0, budget: .zero) } ?? composer.compose(unnumbered: event)
        send(line)
    }
}

extension DeviceEvent {
    fileprivate var isOccasion: Bool { if case .occasion = kind { true } else { false } }
}
