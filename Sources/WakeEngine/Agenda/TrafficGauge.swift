// Which traffic a flow comes of, and which of it is news: what flows without a pause is told to the agenda ten times a second at most.
import WakeAgenda
import WakeModel

struct TrafficGauge {
    private var origins: [HandlerID: Set<FlowRule.Origin>] = [:]
    private var devices: Set<String> = []
    private var lastTold: [TrafficOrigin: Instant] = [:]

    var hasDevices: Bool { !devices.isEmpty }

    mutating func configure(_ handler: HandlerID, _ flows: [FlowRule]) {
        guard origins[handler] != nil || !flows.isEmpty else { return }
        origins[handler] = flows.isEmpty ? nil : Set(flows.map(\.from))
        devices = Set(origins.values.joined().compactMap(\.device))
        lastTold = [:]
    }

    mutating func isNews(_ origin: TrafficOrigin, at now: Instant) -> Bool {
        guard feeds(origin) else { return false }
        if let last = lastTold[origin], now - last < FlowRule.grain { return false }
        lastTold[origin] = now
        return true
    }

    private func feeds(_ origin: TrafficOrigin) -> Bool {
        switch origin {
        case .device(let alias, let uri): devices.contains(alias) || devices.contains(uri)
        case .socket(let handler, let name): origins[handler]?.contains(.socket(name)) ?? false
        }
    }
}

extension FlowRule.Origin {
    fileprivate var device: String? { if case .device(let name) = self { name } else { nil } }
}
