// The traffic that manifests wait for, and how much of it is news: of a steady stream the agenda gets ten reports a second at most.
import WakeAgenda
import WakeModel

struct TrafficGauge {
    private var origins: [HandlerID: Set<DataSource>] = [:]
    private var devices: Set<String> = []
    private var lastTold: [TrafficOrigin: Instant] = [:]

    var hasDevices: Bool { !devices.isEmpty }

    mutating func configure(_ handler: HandlerID, _ sources: Set<DataSource>) {
        guard origins[handler] != nil || !sources.isEmpty else { return }
        origins[handler] = sources.isEmpty ? nil : sources
        devices = Set(origins.values.joined().compactMap(\.device))
        lastTold = [:]
    }

    mutating func isNews(_ origin: TrafficOrigin, at now: Instant) -> Bool {
        guard feeds(origin) else { return false }
        if let last = lastTold[origin], now - last < TrafficOrigin.grain { return false }
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

extension DataSource {
    fileprivate var device: String? { if case .device(let name) = self { name } else { nil } }
}
