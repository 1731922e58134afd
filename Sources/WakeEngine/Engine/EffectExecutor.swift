// What a turn asks of handlers: real processes in a bridge that runs, a model of one where only a trace's clock does.
import WakeCore
import WakeModel

/// Performs what the core asks of handlers, after the commit. What it learns meanwhile it gives to the turn as inputs, which wait
/// there until all effects are performed.
protocol EffectExecutor: AnyObject {
    func perform(_ effect: Effect, in turn: Turn)
    /// How much processor time its process has used; nil where that is unknown.
    func processorTime(of handler: HandlerID) -> TimeSpan?
    /// Gives the turn what the handler has said by now: it is about to be warned.
    func hear(_ handler: HandlerID, _ epoch: Epoch)
}
