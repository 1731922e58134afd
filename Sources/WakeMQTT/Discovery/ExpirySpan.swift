// How long a device's value is valid, by the pace of its profile.
import WakeModel
import WakeProfiles

extension Profile {
    /// Past it, Home Assistant shows its fields as unavailable.
    public var expiry: TimeSpan {
        let polls = ask.poll.filter { $0.when == .always }.map(\.every)
        if let slowest = polls.max() { return max(.seconds(60), slowest * 3) }
        // The end of a link is known at once, so that a value may stay for long.
        return isOfBroadcasters ? .seconds(3600) : .seconds(86_400)
    }
}
