// wakebridge forget: removes a peripheral from bluetoothd, with its bond, its trust and its name.
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem
import WakeWords

extension Verb {
    static var forget: Verb {
        Verb(
            name: "forget", summary: "undo a pairing: bond, trust and name",
            synopsis: ["[--adapter ADDRESS] [--json] DEVICE"],
            detail: """
                DEVICE is an address, an alias or a name. The daemon stops watching it. The peripheral itself keeps its side
                of the bond until it is reset or paired anew. Needs no daemon.
                """,
            flags: [BluetoothStation.adapterFlag, Flag("json", "print what was forgotten as JSON")]
        ) { words throws(Complaint) in
            let word = try words.only("DEVICE")
            let station = try BluetoothStation()
            let search = PeripheralSearch(station, try station.adapters(words))
            guard let path = try search.known(word), let found = station.neighbour(at: path) else {
                let names = station.client.mirror.peripherals.values.filter { $0.isTrusted || $0.isBonded }.map(\.alias)
                throw .failure(
                    "bluetoothd knows no peripheral '\(word.printable)'; 'wakebridge devices' lists those that it keeps."
                        + suggestion(for: word, among: names).printable)
            }
            try station.remove(found)
            Console.print(words.has("json") ? NeighbourText.json(found) : Array(undone(found).utf8))
            return 0
        }
    }

    private static func undone(_ found: Neighbour) -> String {
        let peripheral = found.peripheral
        let parts = [
            peripheral.isBonded ? "bond" : nil, peripheral.isTrusted ? "trust" : nil,
            peripheral.isNamedByPeople ? "name" : nil,
        ].compactMap { $0 }
        let what =
            parts.isEmpty
            ? "it was neither bonded nor trusted" : "its \(parts.listed) \(parts.count > 1 ? "are" : "is") gone"
        let advice =
            peripheral.isBonded ? "; reset it too, or put it into its pairing mode, before it is paired anew" : ""
        return "forgot \(found.label.printable) (\(peripheral.address)): \(what)\(advice)\n"
    }
}

extension BluetoothStation {
    /// From the adapter that `found` is of.
    fileprivate func remove(_ found: Neighbour) throws(Complaint) {
        guard let adapter = client.mirror.adapters.first(where: { $0.value.address == found.adapter })?.key else {
            throw .failure("the adapter of \(found.label.printable) is gone; plug it in again")
        }
        var result: Result<[BusValue], BusError>?
        client.call(
            adapter, BluezInterface.adapter, "RemoveDevice", [.objectPath(found.path)], within: .seconds(30)
        ) { result = $0 }
        try turn(stopsAtInterrupt: false) { result != nil }
        if case .failure(let error)? = result {
            throw .failure(
                "bluetoothd would not forget \(found.label.printable): \(error); look at 'bluetoothctl info'")
        }
    }
}

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    fileprivate var listed: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " and " + self[count - 1]
    }
}
