// wakebridge forget: removes a peripheral from bluetoothd, with its bond, its trust and its name; an accessory from the daemon.
import WakeArguments
import WakeLoop
import WakeModel
import WakePairing
import WakeSources
import WakeSystem

extension Verb {
    static var forget: Verb {
        Verb(
            name: "forget", summary: "undo a pairing: bond, trust and name; forget an accessory",
            synopsis: ["[--adapter ADDRESS] [--json] DEVICE"],
            detail: """
                Every adapter forgets it. DEVICE is its whole alias, address, source or name. The daemon stops watching it. The
                peripheral itself keeps its side of the bond until it is reset or paired again. Needs no daemon.

                An accessory, said by its name, source or node, is forgotten by the daemon, its name and its session with
                it. While it is plugged in, it is new then.
                """,
            examples: ["wakebridge forget chest-strap"],
            flags: [
                BluetoothStation.adapterFlag,
                Flag("json", short: "j", "print a JSON object a line, for each adapter that forgot it"),
            ] + daemonFlags, operands: [.keptDevice]
        ) { words throws(Complaint) in
            let word = try words.only("DEVICE")
            let device = try NamedDevice(words)
            if case .accessory(let accessory) = device { return try accessory.forget() }
            if let sentence = NamedBroadcaster.forget(word, words) {
                Console.print(sentence)
                return 0
            }
            let station = try device.explain { () throws(Complaint) in try BluetoothStation() }
            let adapters = try device.explain { () throws(Complaint) in try station.adapters(words) }
            let search = PeripheralSearch(station, adapters)
            let found = try device.explain { () throws(Complaint) in try station.kept(word, search) }
            let faces = search.faces(of: found.peripheral.address)
            let others = station.keepers(of: found.peripheral.address, besides: faces)
            for face in faces { try station.remove(face) }
            if words.has("json") {
                for face in faces { Console.print(NeighbourText.json(face)) }
            } else {
                Console.print(undone(found, faces))
            }
            // An adapter that is off cannot remove a peripheral, and one that was not named must not.
            for adapter in others {
                let advice = words.has("adapter") ? "" : ", because it is off; power it on, and forget it there too"
                Console.say("adapter \(adapter) still keeps it\(advice)")
            }
            return 0
        }
    }

    private static func undone(_ found: Neighbour, _ faces: [Neighbour]) -> String {
        let peripherals = faces.map(\.peripheral)
        let isBonded = peripherals.contains(where: \.isBonded)
        let parts = [
            isBonded ? "bond" : nil, peripherals.contains(where: \.isTrusted) ? "trust" : nil,
            peripherals.contains(where: \.isNamedByPeople) ? "name" : nil,
        ].compactMap { $0 }
        let what =
            parts.isEmpty
            ? "it was neither bonded nor trusted" : "its \(parts.listed) \(parts.count > 1 ? "are" : "is") gone"
        let advice =
            isBonded ? "; reset it too, or put it into its pairing mode, before it is paired again" : ""
        let adapters = "\(faces.count > 1 ? "adapters" : "adapter") \(faces.map(\.adapter).listed)"
        return "forgot \(found.label.oneCell) (\(found.peripheral.address)) on \(adapters): \(what)\(advice)\n"
    }
}

extension BluetoothStation {
    fileprivate func kept(_ word: String, _ search: PeripheralSearch) throws(Complaint) -> Neighbour {
        if let path = try search.known(word), let found = neighbour(at: path) { return found }
        let names = client.mirror.peripherals.values.filter(\.isAdopted).map(\.alias)
        throw .notFound(
            "bluetoothd knows no peripheral '\(word.printable)'; 'wakebridge devices' lists those that it keeps."
                + suggestion(for: word, among: names).printable)
    }

    /// Removes it from the adapter of `found`.
    fileprivate func remove(_ found: Neighbour) throws(Complaint) {
        let name = found.label.oneCell
        guard let adapter = client.mirror.adapters.first(where: { $0.value.address == found.adapter })?.key else {
            throw .failure("could not forget \(name) on adapter \(found.adapter): \(lossOfAdapter)")
        }
        var result: Result<[BusValue], BusError>?
        client.call(
            adapter, BluezInterface.adapter, "RemoveDevice", [.objectPath(found.path)], within: .seconds(30)
        ) { result = $0 }
        try turn(stopsAtInterrupt: false) { result != nil }
        if case .failure(let error)? = result {
            throw .failure(
                "adapter \(found.adapter) would not forget \(name): \(error); look at 'bluetoothctl info'")
        }
    }

    fileprivate func keepers(of address: String, besides faces: [Neighbour]) -> [String] {
        let paths = Set(client.mirror.peripherals.keys).subtracting(faces.map(\.path))
        return paths.compactMap { neighbour(at: $0) }.filter { $0.isKnown && $0.peripheral.address == address }
            .map(\.adapter).sorted()
    }
}

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    fileprivate var listed: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " and " + self[count - 1]
    }
}
