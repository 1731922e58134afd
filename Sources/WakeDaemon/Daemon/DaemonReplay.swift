// A trace played by the daemon: how far it was played is journaled with the event, so that a killed daemon goes on there.
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem
import WakeTrace

final class DaemonReplay {
    private let bridge: Bridge
    private let file: String
    private let start: WallTime
    private let devices: [EventOrigin]
    private let source: ReplaySource
    private let chunks: FileChunks
    private let log = Log("replay")

    /// Reads the header and passes over what an earlier life has played.
    init(_ replay: DaemonOptions.Replay, bridge: Bridge) throws {
        self.bridge = bridge
        file = replay.file
        chunks = try FileChunks(replay.file)
        var reader = TraceReader(supplyingChunks: chunks.next)
        let header = try reader.header()
        start = header.start
        devices = header.devices.map { bridge.engine.know($0.device(bridge.catalog.profiles)) }
        let position = bridge.engine.replayPosition.flatMap { $0.source == replay.file ? $0.line : nil } ?? 0
        source = try ReplaySource(reader, after: position, speed: replay.speed, on: bridge.loop)
        bridge.turn.observe(source)
    }

    func begin() { source.begin(for: self) }
    func cancel() { source.cancel() }

}

extension DaemonReplay: ReplayHost {
    func mustWait(at speed: ReplaySpeed) -> Bool { bridge.turn.mustWait(at: speed) }

    func replayEnded(_ error: TraceError?) {
        if let failure = chunks.failure { return log.error("\(failure)") }
        if let error { return log.error("cannot replay \(file) further: \(error)") }
        log.notice("\(file) is played")
    }

    func replay(_ operation: TraceOperation) {
        bridge.turn.endIfOverdue()
        let stamp = Stamp(moment: bridge.turn.clock.now(), wall: start + operation.offset)
        // Before the event, so that no commit can hold the one without the other.
        bridge.journal.setReplayPosition(source: file, line: operation.line)
        bridge.engine.ingest(operation.event(of: devices[operation.device], at: stamp))
        bridge.journal.closeReplayStep()
    }
}
