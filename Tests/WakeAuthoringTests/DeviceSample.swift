// Devices that a profile asks for, as they would show themselves: made of what it asks, and of the broadcasts of its vectors.
import DeviceLibrary
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

struct DeviceSample: CustomStringConvertible {
    var kind: SourceKind
    var services: [BluetoothUUID]
    var name: String?
    var properties: [(String, String)]
    var advertisement: [UInt8]?

    var isBroadcast: Bool { advertisement != nil }
    var description: String {
        "\(services.map(\.description)) \(name ?? "-") \(properties) \(advertisement?.hexadecimal ?? "-")"
    }

    static func all(of index: ProfileIndex, in library: ProfileLibrary) throws -> [DeviceSample] {
        let head = library.head(index)
        let names: [String?] = head.match.namePrefixes.isEmpty ? [nil] : head.match.namePrefixes
        let advertisements: [[UInt8]?] =
            head.match.broadcasts.isEmpty
            ? [nil] : try ShippedLibrary.vectors(of: head.name).flatMap(\.advertisements)
        return names.flatMap { name in
            advertisements.map { advertisement in
                DeviceSample(
                    kind: head.kind, services: head.match.services, name: name,
                    properties: head.match.properties.map { ($0.name, $0.values[0]) }, advertisement: advertisement)
            }
        }
    }

    func rivals(in library: ProfileLibrary) -> [ProfileIndex] {
        library.rivals(
            kind: kind, services: services, name: name, properties: properties, advertisement: advertisement)
    }
}

extension Vector {
    /// What the air carries of it.
    fileprivate var advertisements: [[UInt8]] {
        switch origin {
        case .part(let part): pieces.map { part.structure(with: $0) }
        case .channel(.advertisement): pieces
        case .channel: []
        }
    }
}
