// The daemon's data and running work for those who watch it.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

package final class Watching {
    /// Histories, from when they were begun.
    struct Histories {
        let devices: DeviceHistory
        let handlers: HandlerTimelines
        let begun: WallTime
    }

    private let turn: Turn
    private let catalog: Catalog
    private let composer: LineComposer
    private let loop: EventLoop
    private let playsTrace: Bool
    private var kept: Histories?
    let streams: ToolStreams
    let findings: FindingsLook
    let runtimeDirectory: String
    private var recording: TraceStreams?
    private var fileCount = 0

    /// - Parameter playsTrace: devices are those of a trace, whose clock is another.
    package init(of bridge: Bridge, controlSocket: String, runtimeDirectory: String, playsTrace: Bool) {
        (turn, catalog, loop) = (bridge.turn, bridge.catalog, bridge.loop)
        composer = bridge.engine.composer
        (self.runtimeDirectory, self.playsTrace) = (runtimeDirectory, playsTrace)
        let programs = ToolPrograms(of: bridge, controlSocket: controlSocket)
        streams = ToolStreams(programs)
        findings = FindingsLook(programs)
    }

    /// Where a page is served, histories begin with the daemon.
    package func begin() throws(SystemError) { _ = try histories() }

    /// Elsewhere they begin with the first question: if you never look, you pay nothing.
    func histories() throws(SystemError) -> Histories {
        if let kept { return kept }
        let devices = try DeviceHistory(catalog, on: loop, usesOwnTime: playsTrace)
        let handlers = HandlerTimelines(turn.handlerStatuses, usesOwnTime: playsTrace)
        turn.listeners.add(devices)
        turn.listeners.observe(devices)
        turn.listeners.add(handlers)
        let begun = Histories(devices: devices, handlers: handlers, begun: SystemClock.wall())
        kept = begun
        return begun
    }

    func recordings() throws(SystemError) -> TraceStreams {
        if let recording { return recording }
        let made = try TraceStreams(composer, on: loop)
        turn.listeners.add(made)
        recording = made
        return made
    }

    /// Where the next trace that a client sends is put.
    func nextFile() -> String {
        fileCount += 1
        return "\(runtimeDirectory)/sent-\(fileCount).trace"
    }

    /// The daemon ends.
    func close() {
        streams.close()
        findings.close()
    }
}
