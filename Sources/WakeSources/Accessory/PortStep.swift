// The effects of one step of an accessory's machine.
import WakeModel

public enum PortEffect: Hashable, Sendable {
    case open(String)
    case close
    case ask(AskedQuestion)
    case raise(DeviceEvent.Kind, Stamp)
    /// For the log: a sentence without its subject.
    case log(String)
}

/// The effects and the instant of one call.
struct PortStep {
    let stamp: Stamp
    var effects: [PortEffect] = []

    /// On the clock that runs in the system's sleep: the machine only decides how long to wait.
    var now: Instant { stamp.moment.boottime }

    init(stamp: Stamp) { self.stamp = stamp }

    mutating func raise(_ kind: DeviceEvent.Kind) { raise(kind, at: stamp) }
    mutating func raise(_ kind: DeviceEvent.Kind, at stamp: Stamp) { effects.append(.raise(kind, stamp)) }
    mutating func log(_ sentence: String) { effects.append(.log(sentence)) }
}
