// The rows of a peripheral that outlive the bridge: its subscribers, and what its handler served.
import WakeModel

extension PeripheralMachine {
    func row(of handler: HandlerID, _ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.list("subscribers", subscribers.sorted { $0.key < $1.key }) { writer, entry in
                writer.beginObject()
                writer.field("characteristic", entry.key.characteristic.description)
                writer.field("central", entry.key.central)
                writer.field("bonded", entry.value.isBonded)
                writer.field("mtu", entry.value.mtu)
                writer.endObject()
            }
        }
        return AgendaRow(key: PeripheralBook.key(handler), value: value)
    }

    func row(of uuid: BluetoothUUID, _ handler: HandlerID, _ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.key("hex")
            writer.hexadecimal(self.value(of: uuid))
        }
        return AgendaRow(key: PeripheralBook.key(handler, uuid.description), value: value)
    }

    /// Takes back what a row has; false for a row that the manifest has no use for any more.
    mutating func recall(_ row: AgendaRow, _ step: AgendaStep) -> Bool {
        guard let value = try? JSONValue(parsing: row.value) else { return false }
        if row.key.id.isEmpty {
            // After a reboot no link is left.
            if value["boot"]?.string == step.bootID { restore(subscribers(in: value), at: step.boottime) }
            return true
        }
        guard let uuid = BluetoothUUID(row.key.id),
            let bytes = value["hex"]?.string.flatMap({ [UInt8](hexadecimal: $0) })
        else { return false }
        restore(bytes, of: uuid)
        return served[uuid] != nil
    }

    private func subscribers(in value: JSONValue) -> [PeripheralSubscription: Subscriber] {
        let pairs = (value["subscribers"]?.array ?? []).compactMap { entry -> (PeripheralSubscription, Subscriber)? in
            guard let uuid = entry["characteristic"]?.string.flatMap({ BluetoothUUID($0) }),
                let central = entry["central"]?.string, let isBonded = entry["bonded"]?.boolean,
                let mtu = entry["mtu"]?.integer
            else { return nil }
            return (PeripheralSubscription(uuid, central), Subscriber(isBonded: isBonded, mtu: Int(mtu)))
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
