// Handlers' requests to devices: checked against their manifests, and passed to the source of the device.
import WakeCore
import WakeModel

package final class DeviceRequests {
    private let catalog: Catalog
    /// Nil until devices are watched or a trace is played.
    weak var sources: LiveSources?

    init(catalog: Catalog) { self.catalog = catalog }

    /// Calls `answer` exactly once, now or later.
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void) {
        let (name, verb) = (request.address.device, request.verb)
        guard let sources, sources.areReal else { return answer(.failure(.replayed(verb: verb, device: name))) }
        guard let device = device(named: name) else { return answer(.failure(missing(name, verb, handler))) }
        guard catalog.devices(watchedBy: handler).contains(where: { $0.device.uri == device.uri }) else {
            return answer(.failure(.notPermitted(name, verb: verb)))
        }
        guard catalog.handlers[handler]?.settings.accepts(device) ?? false else {
            return answer(.failure(.notBonded(name, verb: verb)))
        }
        sources.perform(request, on: device, answer)
    }

    /// Performs an operator's request to a device: as a handler's, without a manifest that allows it.
    package func perform(
        _ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void
    ) {
        guard let sources, sources.areReal else {
            return answer(.failure(.replayed(verb: request.verb, device: device.alias)))
        }
        sources.perform(request, on: device, answer)
    }

    /// The beginning of an alias is for people: a program's would mean another device once a second one fits. A handler
    /// gets no names but those of its own devices.
    private func missing(_ name: String, _ verb: String, _ handler: HandlerID) -> ProtocolFault {
        let own = Set(catalog.devices(watchedBy: handler).map(\.device.uri))
        let meant = catalog.device(named: name).entries.map(\.device).filter { own.contains($0.uri) }
        return meant.isEmpty
            ? .noSuchDevice(name, verb: verb) : .notWhole(name, verb: verb, of: meant.map(\.alias).sorted())
    }

    /// The present device among several with one alias.
    private func device(named name: String) -> Device? {
        switch catalog.device(named: name, by: .whole) {
        case .none: nil
        case .one(let entry): entry.device
        case .several(let entries): (entries.first { $0.isConnected == true } ?? entries.first)?.device
        }
    }
}
