// A life of the bridge in a replay: an engine with a journal in memory, and models of handlers in place of processes.
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeTrace

/// The common state of all lives of a replay's bridge.
struct ReplayedGround {
    let clock: VirtualClock
    let header: TraceHeader
    let profiles: ProfileLibrary
    let work: SimulatedWork
    let world: ReplayedWorld
    /// The journal that a bridge finds again when it begins anew.
    let memory = JournalMemory()
    let tally = DecisionTally()
}

final class ReplayedBridge {
    let engine: Engine
    let executor: SimulatedExecutor
    /// By their place in the trace's header.
    let devices: [EventOrigin]
    private let composer: LineComposer
    private let journal: Journal
    var turn: Turn { engine.turn }

    /// - Parameter earlier: the life before, which has ended.
    init(_ ground: ReplayedGround, after earlier: ReplayedBridge? = nil) throws {
        let settings = JournalSettings(runtimeDirectory: nil, stateDirectory: nil)
        journal = try Journal(opening: settings, bootID: ground.clock.bootID, memory: ground.memory)
        composer = LineComposer(
            catalog: Catalog(profiles: ground.profiles), idPrefix: LineComposer.replayPrefix, clock: ground.clock,
            after: earlier?.composer)
        executor = SimulatedExecutor(composer: composer, work: ground.work)
        engine = try Engine(
            journal: journal, recovery: journal.recover(at: ground.clock.stamp().wall), clock: ground.clock,
            limits: .none, composer: composer, executor: executor, seed: ground.header.seed)
        engine.turn.listeners.add(ground.tally as any DecisionListener)
        devices = ground.header.devices.map { [engine] in engine.know($0.device(ground.profiles)) }
        ground.world.begin(turn)
    }

    /// How long its handlers were awake, all together.
    var awake: TimeSpan { turn.handlerStatuses.reduce(.zero) { $0 + $1.awake } }

    /// The manifests that it has, by name.
    var manifests: [HandlerManifest] { engine.catalog.manifests }

    func end() { journal.close(clean: true) }
}
