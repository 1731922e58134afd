// wakebridge inspect: the services or nodes of a device, and with --live the values that it sends.
import WakeArguments
import WakeModel
import WakeSources

extension Verb {
    static var inspect: Verb {
        Verb(
            name: "inspect", summary: "services and characteristics of a device, or its node, and the data it sends",
            synopsis: ["[--live] [--json] DEVICE"],
            detail: """
                Of a peripheral: its services and characteristics, what each can do, and what the profile calls it;
                bluetoothd knows them once it was connected. Of an accessory: its node, its udev properties and its line
                settings. DEVICE may be a node too. With --live the daemon's events of it follow, decoded, until Ctrl-C.
                Needs no daemon for what bluetoothd and udev know.
                """,
            examples: ["wakebridge inspect chest-strap", "wakebridge inspect --live /dev/ttyACM0"],
            flags: [
                Flag("live", "go on with the values as they come"),
                Flag(
                    "json", short: "j",
                    "print one JSON document; with --live a JSON object a line follows for each event"),
            ] + daemonFlags, operands: [.keptDevice]
        ) { words throws(Complaint) in
            let word = try words.only("DEVICE")
            let isJSON = words.has("json")
            let device = try InspectedDevice(word, words)
            Console.print(isJSON ? device.json : Array(device.text.utf8))
            guard words.has("live") else { return 0 }
            let told = if let told = device.told { told } else { try words.client.device(named: word) }
            let ending = try words.client.follow(
                .get, "/v1/events?device=\(told.source.percentEncoded)", EventText.printer(isJSON: isJSON))
            return try finish(
                ending, "the daemon ended the stream of events; 'wakebridge status' tells whether it still runs")
        }
    }
}

/// The shown facts of a device.
private struct InspectedDevice {
    private enum Inside {
        case services([GattService])
        case node(AttachedNode)
        /// An accessory that is not attached, or a peripheral of which bluetoothd knows nothing.
        case unknown
    }

    /// Nil for a node that neither the daemon nor bluetoothd knows.
    private let known: KnownDevice?
    private let inside: Inside

    var told: ToldDevice? { known?.told }

    init(_ word: String, _ words: ParsedArguments) throws(Complaint) {
        if word.hasPrefix("/dev/") || word.hasPrefix("/sys/") {
            let told = Self.told(word, words)
            known = told.map { KnownDevice($0) }
            guard let node = try AttachedNode(at: word, profile: told?.profile) else {
                throw .notFound(
                    "udev knows no accessory at '\(word.printable)'; see which there are with: wakebridge scan --all")
            }
            inside = .node(node)
            return
        }
        let all = try KnownDevices(words)
        let device = try all.device(named: word, words.client)
        known = device
        if let row = device.neighbour, let station = all.station {
            inside = .services(try station.services(of: row))
        } else if let node = device.told?.node, let attached = try AttachedNode(at: node, profile: device.profile) {
            inside = .node(attached)
        } else {
            inside = .unknown
        }
    }

    /// The daemon need not run, and need not know the node.
    private static func told(_ word: String, _ words: ParsedArguments) -> ToldDevice? {
        do throws(Complaint) { return try words.client.device(named: word) } catch { return nil }
    }

    /// Why neither bluetoothd nor udev knows more.
    private var absence: String {
        known?.told?.isConnected == true
            ? "it is connected; its services are not shown: a recording plays it, another bridge has it, or bluetoothd is away"
            : "its services and its node are shown while it is connected"
    }

    var text: String {
        let head = known?.details ?? ""
        switch inside {
        case .services(let services): return head + "\n" + GattService.text(of: services)
        case .node(let node): return head + (head.isEmpty ? "" : "\n") + node.text
        case .unknown: return head + "\n\(absence)\n"
        }
    }

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.key("device")
            if let known { writer.known(known) } else { writer.null() }
            switch inside {
            case .services(let services): writer.list("services", services) { $1.write(to: &$0) }
            case .node(let node): node.write(to: &writer)
            case .unknown: break
            }
        }
    }
}
