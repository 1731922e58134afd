// A trace's devices as the bridge's own: matched to a profile, named, numbered.
import WakeModel
import WakeProfiles
import WakeTrace

extension TraceDevice {
    /// The device as event lines show it; one without an alias is called by its profile and the end of its address.
    func device(_ profiles: ProfileLibrary) -> Device {
        let match = profiles.match(
            kind: kind, services: services, name: name, properties: properties.map { ($0.key, $0.value) })
        let profile = match.map { profiles.name($0) }
        let tail = address.filter { $0 != ":" }.suffix(4).lowercased()
        return Device(uri: uri, alias: alias ?? "\(profile ?? "device")-\(tail)", profile: profile, kind: kind)
    }
}

extension TraceOperation {
    func event(of device: EventOrigin, at stamp: Stamp) -> DeviceEvent {
        DeviceEvent(origin: device, kind: kind, stamp: stamp)
    }
}
