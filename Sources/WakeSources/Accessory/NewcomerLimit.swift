// Limits the new devices of each port, so that a device with invented serial numbers cannot take all places. Pure.
import WakeModel

struct NewcomerLimit: Hashable {
    enum Verdict: Hashable {
        case admitted
        /// The first one too many within the span.
        case refused
        /// A further one too many.
        case refusedToo
    }

    private struct Port: Hashable {
        /// When each new device came, whichever of its interfaces came first.
        var newcomers: [String: Instant] = [:]
        var isReported = false
    }

    static let most = 10
    static let span = TimeSpan.seconds(3_600)
    private var ports: [String: Port] = [:]

    /// Decides whether the device may be entered as a new one. Parts of the machine always may.
    mutating func judge(_ identity: AccessoryIdentity, at now: Instant) -> Verdict {
        guard identity.vendor != "platform" else { return .admitted }
        var port = ports[identity.port] ?? Port()
        defer { ports[identity.port] = port.newcomers.isEmpty ? nil : port }
        port.newcomers = port.newcomers.filter { now - $0.value < Self.span }
        let device = "\(identity.vendor):\(identity.product):\(identity.serial ?? "")"
        if port.newcomers[device] != nil { return .admitted }
        guard port.newcomers.count >= Self.most else {
            port.newcomers[device] = now
            port.isReported = false
            return .admitted
        }
        defer { port.isReported = true }
        return port.isReported ? .refusedToo : .refused
    }
}
