// How many new devices are taken from each port: who makes serial numbers up takes no places of others without end. Pure.
import WakeModel

struct NewcomerLimit: Hashable {
    enum Verdict: Hashable {
        case admitted
        /// There were too many within the span, and this is the first one too many.
        case refused
        /// As others before it.
        case refusedToo
    }

    private struct Port: Hashable {
        /// Devices, whatever interface of theirs came first, and when each came.
        var newcomers: [String: Instant] = [:]
        var isReported = false
    }

    static let most = 10
    static let span = TimeSpan.seconds(3_600)
    private var ports: [String: Port] = [:]

    /// Whether the device may be entered as a new one. Parts of the machine are no newcomers.
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
