// Cuts what was recorded of an accessory as the daemon would cut what it reads of it, by the profiles of this machine.
import WakeCapture
import WakeModel
import WakeProfiles
import WakeSources
import WakeTrace

final class ProfileCutting: MessageCutting {
    private struct Cutter: MessageCutter {
        var node: RecordedNode

        mutating func append(_ bytes: [UInt8], at time: TimeSpan) -> [(channel: Channel, bytes: [UInt8])] {
            node.append(bytes, at: .zero + time)
        }

        mutating func end() -> [(channel: Channel, bytes: [UInt8])] { node.end() }
    }

    private let places: NamedPlaces
    private lazy var profiles = places.library

    init(_ places: NamedPlaces) { self.places = places }

    func cutter(for device: TraceDevice, of channel: Channel) -> (any MessageCutter)? {
        let properties = device.properties.map { ($0.key, $0.value) }
        let index = profiles.match(
            kind: device.kind, services: device.services, name: device.name, properties: properties)
        guard let plan = index.flatMap({ profiles[$0].accessory }), plan.channel == channel else { return nil }
        return RecordedNode(plan).map { Cutter(node: $0) }
    }
}

extension AccessoryPlan {
    /// The channel of its node; nil for reports, of which a device has many, and where no node is opened.
    fileprivate var channel: Channel? {
        switch node {
        case .serial, .rfcomm: .serial
        case .input: .input
        case .hid, .none: nil
        }
    }
}
