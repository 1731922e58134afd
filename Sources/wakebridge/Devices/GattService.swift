// The services of a peripheral and what is in them, as bluetoothd knows them and the profile names them.
import WakeArguments
import WakeLoop
import WakeModel
import WakePairing
import WakeProfiles
import WakeSources

struct GattService {
    struct Characteristic {
        let uuid: BluetoothUUID
        /// The operations that it offers: `read`, `notify`, …
        let properties: [String]
        /// The profile's name for it.
        let name: String?
    }

    /// Nil where bluetoothd reports none.
    let uuid: BluetoothUUID?
    let characteristics: [Characteristic]

    static func text(of services: [GattService]) -> String {
        if services.isEmpty { return "its services are not known yet: it has not been connected\n" }
        var rows = [["SERVICE", "CHARACTERISTIC", "PROPERTIES", "NAME"]]
        for service in services {
            for (place, one) in service.characteristics.enumerated() {
                let head = place == 0 ? service.uuid?.description ?? "?" : ""
                rows.append(
                    [head, one.uuid.description, one.properties.joined(separator: ", ").oneCell, one.name ?? "-"])
            }
        }
        return Table(rows: rows).text
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("uuid", uuid?.description)
        writer.objects("characteristics", characteristics) { writer, one in
            writer.field("uuid", one.uuid.description)
            writer.field("name", one.name)
            writer.field("properties", one.properties)
        }
        writer.endObject()
    }
}

extension BluetoothStation {
    /// In the order of their handles.
    func services(of row: Neighbour) throws(Complaint) -> [GattService] {
        let names = profiles.profile(of: row.peripheral)?.channelNames ?? [:]
        var order: [String] = []
        var inside: [String: [GattService.Characteristic]] = [:]
        for (path, found) in client.mirror.characteristics(of: row.path) {
            if inside[path.parent] == nil { order.append(path.parent) }
            inside[path.parent, default: []].append(
                GattService.Characteristic(
                    uuid: found.uuid, properties: found.flags.sorted(), name: names[.characteristic(found.uuid)]))
        }
        var services: [GattService] = []
        for path in order {
            services.append(GattService(uuid: try uuid(ofService: path), characteristics: inside[path] ?? []))
        }
        return services
    }

    private func uuid(ofService path: String) throws(Complaint) -> BluetoothUUID? {
        var answer: Result<[BusValue], BusError>?
        client.call(
            path, BluezInterface.properties, "Get", [.string(BluezInterface.gattService), .string("UUID")],
            within: .seconds(5)
        ) { answer = $0 }
        try turn { answer != nil }
        guard case .success(let values)? = answer else { return nil }
        return values.first?.bare.string.flatMap { BluetoothUUID($0) }
    }
}
