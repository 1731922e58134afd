// Recordings for clients: what one device does, as a trace, from now until the client has enough.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem
import WakeTrace

final class TraceStreams: EventSink {
    private final class Recording {
        let device: EventOrigin
        let stream: ControlStream
        var recorder: TraceRecorder

        init(_ device: EventOrigin, _ stream: ControlStream, _ recorder: TraceRecorder) {
            (self.device, self.stream, self.recorder) = (device, stream, recorder)
        }
    }

    private let composer: LineComposer
    private var recordings: [Recording] = []
    private var heard: [(event: DeviceEvent, sequence: Sequence?, time: WallTime)] = []
    private var writing: Deferred?

    private static let mostHeard = 256

    init(_ composer: LineComposer, on loop: EventLoop) throws(SystemError) {
        self.composer = composer
        writing = try loop.deferred(priority: .idle, of: self) { $0.write() }
    }

    func answer(_ status: DeviceStatus, as device: EventOrigin) throws(ControlRefusal) -> ControlResponse {
        guard let declared = TraceDevice(status) else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "'\(status.device.alias)' has a source that no trace can hold",
                advice: "record the day instead, with: wakebridge record --day")
        }
        return .stream(contentType: "text/plain; charset=utf-8") { [self] stream in
            let recorder = TraceRecorder([declared], isUp: [status.link == "connected"], start: SystemClock.wall())
            let recording = Recording(device, stream, recorder)
            stream.send(recording.recorder.begin())
            recordings.append(recording)
            stream.onClose = { [self] stream in recordings.removeAll { $0.stream === stream } }
        }
    }

    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        guard recordings.contains(where: { $0.device == event.origin }) else { return }
        heard.append((event, sequence, SystemClock.wall()))
        if heard.count == Self.mostHeard { write() } else { writing?.schedule() }
    }

    private func write() {
        let events = heard
        heard.removeAll(keepingCapacity: true)
        for (event, sequence, time) in events {
            let line =
                sequence.map { composer.compose(event, as: $0, budget: .zero) } ?? composer.compose(unnumbered: event)
            for recording in recordings where recording.device == event.origin {
                recording.stream.send(recording.recorder.record(line, at: time))
            }
        }
    }
}

extension TraceDevice {
    /// Nil where its source is none of a device.
    fileprivate init?(_ status: DeviceStatus) {
        let parts = status.device.uri.split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let match = status.match
        self.init(
            number: 1, kind: status.device.kind, address: String(parts[1]), alias: status.device.alias,
            name: match?.namePrefix, services: match?.services ?? [],
            properties: (match?.properties ?? []).map { ($0.name, $0.value) },
            advertisement: match?.advertisement ?? [],
            reportDescriptor: status.device.reportDescriptor)
    }
}
