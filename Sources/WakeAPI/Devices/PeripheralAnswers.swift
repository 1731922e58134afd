// Orders for Bluetooth peripherals: their names and bonds are bluetoothd's, which is asked.
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources

extension AccessoryAnswers {
    /// Nil where the order is about no peripheral that bluetoothd keeps.
    func namePeripheral(_ order: AccessoryOrder) throws(ControlRefusal) -> ControlResponse? {
        guard let kept = kept(order.device), let name = order.name, order.identity == nil else { return nil }
        try requireFree(name, besides: kept.device.uri)
        if let own = kept.faces.first(where: { $0.value.name == name })?.value {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "'\(name)' is what \(own.address) calls itself",
                advice: "choose another: bluetoothd does not tell that from no name")
        }
        let calls = kept.faces.keys.sorted().map { path in
            BluezOrder(path: path, interface: BluezInterface.peripheral, deed: .name(name))
        }
        return perform(calls, on: kept.device, calledThen: name)
    }

    /// Nil where the word means none.
    func forgetPeripheral(_ word: String) -> ControlResponse? {
        guard let kept = kept(word) else { return forgetAbsent(word) }
        let calls = kept.faces.keys.sorted().map { path in
            BluezOrder(path: path, interface: BluezInterface.adapter, deed: .remove)
        }
        return perform(calls, on: kept.device, calledThen: kept.device.alias) { [sources] in
            sources.forgetPeripheral(kept.device.uri)
        }
    }

    /// Forgets a device that no adapter knows any more, and the bridge still does.
    private func forgetAbsent(_ word: String) -> ControlResponse? {
        guard let client = sources.bluetooth?.client, client.isThere,
            case .one(let entry) = catalog.device(named: word, by: .whole),
            entry.device.kind == BluetoothSource.kind, entry.device.alias != entry.device.uri,
            sources.broadcasts?.watches(entry.device.uri) != true,
            !client.mirror.peripherals.values.contains(where: { $0.uri == entry.device.uri })
        else { return nil }
        let device = entry.device
        sources.forgetPeripheral(device.uri)
        return .named(device.alias, device.uri)
    }

    /// The peripheral and its objects, one at each adapter that keeps it. What is undone is named in full.
    private func kept(_ word: String) -> (device: Device, faces: [String: BluezPeripheral])? {
        guard let client = sources.bluetooth?.client,
            case .one(let entry) = catalog.device(named: word, by: .whole)
        else { return nil }
        let faces = client.mirror.peripherals.filter { $0.value.uri == entry.device.uri && $0.value.isAdopted }
        return faces.isEmpty ? nil : (entry.device, faces)
    }

    private func perform(
        _ orders: [BluezOrder], on device: Device, calledThen name: String, _ done: @escaping () -> Void = {}
    ) -> ControlResponse {
        .later { [sources] respond in
            guard let client = sources.bluetooth?.client else { return respond(.refusal(.goneBluetooth(device.alias))) }
            var left = orders.count
            var failure: BusError?
            for order in orders {
                order.perform(over: client) { result in
                    if case .failure(let error) = result { failure = failure ?? error }
                    left -= 1
                    guard left == 0 else { return }
                    if failure == nil { done() }
                    respond(failure.map { .refusal(.refusedByBluez(device.alias, $0)) } ?? .named(name, device.uri))
                }
            }
        }
    }
}

/// An order to bluetoothd about one object.
private struct BluezOrder {
    enum Deed {
        case name(String)
        case remove
    }

    let path: String
    let interface: String
    let deed: Deed

    func perform(over client: BluezClient, _ answer: @escaping (Result<[BusValue], BusError>) -> Void) {
        switch deed {
        case .name(let name): client.set("Alias", of: path, interface, to: .string(name), answer)
        case .remove:
            client.call(path.parent, interface, "RemoveDevice", [.objectPath(path)], within: .seconds(15), answer)
        }
    }
}

extension ControlResponse {
    static func named(_ name: String, _ source: String) -> ControlResponse {
        .object { writer in
            writer.field("alias", name)
            writer.field("source", source)
        }
    }
}

extension ControlRefusal {
    fileprivate static func refusedByBluez(_ name: String, _ error: BusError) -> ControlRefusal {
        ControlRefusal(
            .failed, code: "failed", message: "bluetoothd would not do it to '\(name)': \(error.description)",
            advice: "see that its adapter is on, and look at: bluetoothctl info")
    }

    fileprivate static func goneBluetooth(_ name: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "no Bluetooth is watched, so '\(name)' stays as it is",
            advice: "see what is wrong with: wakebridge doctor")
    }
}
