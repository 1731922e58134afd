// How long a handler in the foreground may answer nothing before the person at the terminal reads how to acknowledge.
import WakeEngine
import WakeModel

struct SilencePatience: Hashable {
    /// A handler that had an event for at least one step and at most two is reported.
    let step: TimeSpan

    /// Nil for handlers that the bridge acknowledges for.
    init?(of manifest: HandlerManifest) {
        let settings = manifest.settings
        guard settings.lifecycle == .resident, settings.acknowledgement == .explicit else { return nil }
        step = min(.seconds(2), TimeSpan(nanoseconds: settings.timers.budget.nanoseconds / 4))
    }

    func sentence(for events: Int) -> String {
        "the handler has acknowledged none of \(events.counted("event")) yet: when one is done, it writes "
            + "{\"ack\":SEQ} to descriptor 3; for a program that cannot, write ack: \"delivery\" in a manifest, and name "
            + "it with --manifest"
    }
}
