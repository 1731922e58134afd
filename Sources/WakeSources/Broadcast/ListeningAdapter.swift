// Makes calls to bluetoothd for an adapter's machine: advertisement monitors, which are objects of the daemon, and
// discovery.
import WakeLoop
import WakeModel

struct ListeningAdapter {
    let session: DiscoverySession
    var machine = ScanMachine()
    /// The monitor and its root, while bluetoothd has them.
    var objects: [BusObject] = []
    /// Each monitor has a path of its own: bluetoothd may remove the one before it late.
    var monitors = 0
}

extension BroadcastSource {
    private static let monitor = "org.bluez.AdvertisementMonitor1"

    /// `/org/bluez/hci0` has its own.
    private func root(of adapter: String) -> String {
        let number = adapters[adapter]?.monitors ?? 0
        return "/org/wakebridge/monitors/\(adapter.split(separator: "/").last ?? "")_\(number)"
    }

    func ask(_ request: ScanRequest, of path: String) {
        switch request {
        case .registerMonitor: registerMonitor(of: path)
        case .unregisterMonitor:
            adapters[path]?.objects = []
            call("UnregisterMonitor", root(of: path), .unregisterMonitor, path)
        case .stopDiscovery: adapters[path]?.session.end {}
        case .look: adapters[path]?.session.look { [weak self] in self?.step(path, .looked(isScanning: $0)) }
        case .startDiscovery:
            adapters[path]?.session.begin(filter) { [weak self] in self?.answer(.startDiscovery, of: path, $0) }
        }
    }

    private func call(_ member: String, _ root: String, _ request: ScanRequest, _ path: String) {
        let arguments = [BusValue.objectPath(root)]
        client.call(path, BluezInterface.monitors, member, arguments, within: .seconds(15), of: self) {
            $0.answer(request, of: path, $1.map { _ in })
        }
    }

    private func answer(_ request: ScanRequest, of path: String, _ result: Result<Void, BusError>) {
        var failed = false
        if case .failure(let error) = result {
            failed = true
            log(error, of: request, path)
        }
        step(path, .answered(request, failed: failed))
    }

    private func log(_ error: BusError, of request: ScanRequest, _ path: String) {
        switch request {
        case .registerMonitor: log.notice("\(path) takes no advertisement monitor: \(error); it scans instead")
        case .startDiscovery: log.warning("\(path) does not scan: \(error); it is tried again after a while")
        // Mostly there was nothing to end.
        case .unregisterMonitor, .stopDiscovery, .look: break
        }
    }

    private func registerMonitor(of path: String) {
        adapters[path]?.monitors += 1
        let root = root(of: path)
        let made = [
            client.export(at: root, of: self) { $0.answerRoot($1, path) },
            client.export(at: root + "/monitor", of: self) { $0.answerMonitor($1, path) },
        ].compactMap { $0 }
        guard made.count == 2 else { return step(path, .answered(.registerMonitor, failed: true)) }
        adapters[path]?.objects = made
        call("RegisterMonitor", root, .registerMonitor, path)
    }

    private func answerRoot(_ request: BusRequest, _ path: String) {
        guard request.interface == BluezInterface.objects, request.member == "GetManagedObjects" else {
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
        let properties = BusValue.properties([
            ("Type", .string("or_patterns")), ("RSSISamplingPeriod", .uint16(0)),
            ("Patterns", .array(of: "(yyay)", (patterns ?? []).map(\.value))),
        ])
        let interfaces = BusValue.dictionary(
            key: "s", value: "a{sv}", [BusEntry(.string(Self.monitor), properties)])
        request.answer([
            .dictionary(
                key: "o", value: "a{sa{sv}}", [BusEntry(.objectPath(root(of: path) + "/monitor"), interfaces)])
        ])
    }

    private func answerMonitor(_ request: BusRequest, _ path: String) {
        switch request.member {
        case "Activate": step(path, .activated)
        case "Release":
            adapters[path]?.objects = []
            step(path, .released)
        // DeviceFound and DeviceLost: the device's advertisements arrive as with any scan.
        default: break
        }
        request.answer()
    }
}
