// What a turn tells while it is gathered and when it has ended.
import WakeCore
import WakeModel

/// Sees every decision of the core, as it is made.
package protocol DecisionListener: AnyObject {
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp)
}

/// Sees what devices did: with its number where a handler is to get it, and without one where none is, for lack of a subscription
/// or by its policy.
package protocol EventSink: AnyObject {
    func saw(_ event: DeviceEvent, as sequence: Sequence?)
}

/// Is told after every turn, when all is committed and performed.
package protocol TurnObserver: AnyObject {
    func turnEnded()
}
