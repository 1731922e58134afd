// How long what a device said holds, by what its profile tells of its pace.
import WakeModel
import WakeProfiles

extension Profile {
    /// Past it, Home Assistant shows its fields as unavailable.
    public var expiry: TimeSpan {
        let polls = ask.poll.filter { $0.when == .always }.map(\.every)
        if let slowest = polls.max() { return max(.seconds(60), slowest * 3) }
        // Whether a link is up is told at once, so that a value may stand for long.
        return isOfBroadcasters ? .seconds(3600) : .seconds(86_400)
    }
}
