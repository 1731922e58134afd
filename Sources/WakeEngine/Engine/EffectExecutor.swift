// The interface through which a turn acts on handlers: real processes in a bridge that runs, a model in a replay.
import WakeCore
import WakeModel

/// Performs what the core asks of handlers, after the commit. What it learns meanwhile it gives to the turn as inputs, which wait
/// there until all effects are performed.
protocol EffectExecutor: AnyObject {
    func perform(_ effect: Effect, in turn: Turn)
    /// How much processor time its process has used; nil where that is unknown.
    func processorTime(of handler: HandlerID) -> TimeSpan?
    /// Passes the turn all that the handler has written so far: a warning is due.
    func hear(_ handler: HandlerID, _ epoch: Epoch)
}
