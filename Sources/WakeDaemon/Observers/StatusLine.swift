// The line that `systemctl status` shows: what the daemon lacks, how many devices are connected, and which handlers do not run.
import WakeCore
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

/// Reports changes that an operator looks for to the service manager, at most once a second. A wake changes none of it.
final class StatusLine: DecisionListener, EventSink, NoticeListener {
    private let catalog: Catalog
    private var timer: Timer?
    /// Nil where no Bluetooth is watched.
    var bluetooth: BluetoothSource?
    private let journal: Journal
    private var barred: [HandlerID: HandlerState] = [:]
    private var told = ""
    private static let pause = TimeSpan.seconds(1)

    init(catalog: Catalog, journal: Journal, loop: EventLoop) throws(SystemError) {
        (self.catalog, self.journal) = (catalog, journal)
        // Without a service manager there is nothing to wake up for.
        if ServiceState.isHeard { timer = try loop.timer(on: .monotonic, of: self) { $0.update() } }
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        guard case .moved(let from, let to, _) = decision else { return }
        switch (from, to) {
        case (_, .stopped), (_, .quarantined):
            barred[handler] = to
            updateSoon()
        case (.stopped, _), (.quarantined, _):
            barred[handler] = nil
            updateSoon()
        case (_, _): break
        }
    }

    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        switch event.kind {
        case .connected, .disconnected: updateSoon()
        case .data, .gap, .attention, .occasion: break
        }
    }

    func hear(_ notice: Notice) {
        if case .bridge = notice { updateSoon() }
    }

    func updateSoon() {
        if let timer, timer.armedAt == nil { timer.arm(at: SystemClock.monotonic() + Self.pause) }
    }

    private func update() {
        let line = text
        guard line != told else { return }
        told = line
        ServiceState.status(line)
    }

    private var text: String {
        let connected = catalog.devices.count { $0?.isConnected == true }
        let clauses = [HandlerState.quarantined, .stopped].compactMap { state in
            let names = names(in: state)
            return names.isEmpty ? nil : "; \(state.rawValue): \(names.joined(separator: ", "))"
        }
        return "\(connected.counted("device")) connected, " + catalog.handlers.count.counted("handler")
            + clauses.joined() + lacking.map { "; " + $0 }.joined()
    }

    private var lacking: [String] {
        var lacking: [String] = []
        if let bluetooth, !bluetooth.adapters.contains(where: \.isPowered) {
            lacking.append(bluetooth.adapters.isEmpty ? "no Bluetooth adapter" : "Bluetooth is off")
        }
        let health = journal.health
        if health.run != .ok || health.disk != .ok { lacking.append("events are kept in memory only") }
        return lacking
    }

    private func names(in state: HandlerState) -> [String] {
        barred.filter { $0.value == state && catalog.handlers[$0.key] != nil }.map { catalog.name(of: $0.key) }.sorted()
    }
}
