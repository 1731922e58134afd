// What handlers ask of devices: checked against what their manifests allow, and passed to the source of the device.
import WakeCore
import WakeModel

final class DeviceRequests {
    private let catalog: Catalog
    /// Nil until devices are watched or a trace is played.
    weak var sources: LiveSources?

    init(catalog: Catalog) { self.catalog = catalog }

    /// Calls `answer` exactly once, now or later.
    func perform(_ request: DeviceRequest, for handler: HandlerID, _ answer: @escaping (DeviceAnswer) -> Void) {
        let (name, verb) = (request.address.device, request.verb)
        guard let sources, sources.areReal else { return answer(.failure(.replayed(verb: verb, device: name))) }
        guard let id = catalog.device(named: name), let device = catalog.entry(id)?.device else {
            return answer(.failure(.noSuchDevice(name, verb: verb)))
        }
        guard catalog.devices(watchedBy: handler).contains(where: { $0.device.uri == device.uri }) else {
            return answer(.failure(.notPermitted(name, verb: verb)))
        }
        guard catalog.handlers[handler]?.settings.accepts(device) ?? false else {
            return answer(.failure(.notBonded(name, verb: verb)))
        }
        sources.perform(request, on: device, answer)
    }
}
