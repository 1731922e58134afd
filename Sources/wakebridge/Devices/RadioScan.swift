// A scan of the tool: discovery on its adapters, its results, and its end before anything else uses the radio.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources
import WakeSystem

final class RadioScan {
    private(set) var failure: String?
    /// Something came, changed or went since this was set to false.
    var hasNews = true
    private let station: BluetoothStation
    private let adapters: Set<String>
    private var neighbourhood = Neighbourhood()
    private var discovery: Discovery?
    private var asked: Instant?

    init(_ station: BluetoothStation, on adapters: Set<String>) {
        self.station = station
        self.adapters = adapters
    }

    /// With `services`, bluetoothd need only report peripherals that offer one of them.
    func begin(for services: [BluetoothUUID]) {
        let discovery = Discovery(of: services, on: Array(adapters), over: station.client, on: station.loop)
        self.discovery = discovery
        asked = SystemClock.monotonic()
        discovery.didFail = { [unowned self] in failure = $0 }
        station.didChange = { [unowned self] change in
            apply(change)
            discovery.bluezDidChange(change)
        }
        discovery.begin()
    }

    func end() throws(Complaint) {
        var isOver = false
        discovery?.stop { isOver = true }
        try station.turn(until: SystemClock.monotonic() + .seconds(5), stopsAtInterrupt: false) { isOver }
    }

    /// The delay before the radio began to scan, so far: a timed scan has its full time only after this.
    var delay: TimeSpan {
        guard let asked, failure == nil else { return .zero }
        return (discovery?.begun ?? SystemClock.monotonic()) - asked
    }

    /// Why nothing can be received yet; nil where nothing prevents it.
    var refusal: String? { failure == nil ? discovery?.refusal : nil }

    func isThere(_ path: String) -> Bool { station.client.mirror.peripherals[path] != nil }

    func hasHeard(_ path: String) -> Bool { neighbourhood.hasHeard(path) }

    var rows: [Neighbour] {
        neighbourhood.rows(of: station.client.mirror, on: adapters) { station.profile(of: $0) }.map { row in
            var row = row
            row.broadcast = station.broadcast(of: row)
            return row
        }
    }

    private func apply(_ change: BluezChange) {
        switch change {
        case .peripheral(let path, _):
            if station.client.mirror.peripherals[path]?.signal != nil { neighbourhood.hear(path) }
        case .peripheralGone(let path, _): neighbourhood.lose(path)
        case .adapterGone(let path, _):
            if adapters.contains(path) { failure = station.lossOfAdapter }
        case .adapter, .database, .value: return
        }
        hasNews = true
    }
}
