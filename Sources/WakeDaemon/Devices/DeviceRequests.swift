// What handlers ask of devices: checked against what their manifests allow, and passed to what watches the device.
import WakeCore
import WakeModel

typealias DeviceAnswer = Result<Notice.Answer, ProtocolFault>

final class DeviceRequests {
    private enum Watches {
        /// There is no device to talk to: a trace is played in place of devices, or they are not watched yet.
        case none
        case live([SourceKind: any DeviceWatch])
    }

    private let catalog: Catalog
    private var watches = Watches.none

    init(catalog: Catalog) { self.catalog = catalog }

    /// Requests go to these from now on.
    func serve(_ live: [SourceKind: any DeviceWatch]) { watches = .live(live) }

    /// Calls `answer` exactly once, now or later.
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void) {
        let name = request.address.device
        guard case .live(let live) = watches else {
            return answer(.failure(.replayed(verb: request.verb, device: name)))
        }
        guard let id = catalog.device(named: name), let device = catalog.entry(id)?.device else {
            return answer(.failure(.noSuchDevice(name, verb: request.verb)))
        }
        guard catalog.devices(watchedBy: handler).contains(where: { $0.device.uri == device.uri }) else {
            return answer(.failure(.notPermitted(name, verb: request.verb)))
        }
        guard catalog.handlers[handler]?.settings.accepts(device) ?? false else {
            return answer(.failure(.notBonded(name, verb: request.verb)))
        }
        guard let watch = live[device.kind] else {
            return answer(.failure(.notConnected(name, verb: request.verb)))
        }
        watch.perform(request, on: device, answer)
    }
}

extension DeviceRequest {
    var verb: String {
        switch self {
        case .read: "read"
        case .write: "write"
        }
    }

    var address: DeviceAddress {
        switch self {
        case .read(let address), .write(let address, _): address
        }
    }
}
