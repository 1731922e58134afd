// wakebridge read: asks a device for a value through the daemon, as a handler would.
import WakeArguments
import WakeModel
import WakeProfiles

extension Verb {
    static var read: Verb {
        Verb(
            name: "read", summary: "read a value of a device, as a handler would",
            synopsis: ["[--json] DEVICE [CHARACTERISTIC]"],
            detail: """
                The daemon reads it over the link that it has. The value is printed as hexadecimal and, where the profile
                decodes it, decoded. CHARACTERISTIC is a UUID such as 2a19, or what the profile calls it; 'wakebridge
                inspect' lists them. An accessory's stream cannot be read: what it says comes by itself.
                """,
            examples: ["wakebridge read chest-strap 2a19"],
            flags: [jsonFlag] + daemonFlags, operands: [.device, .free]
        ) { words throws(Complaint) in
            try words.atMost(2)
            guard let device = words.operands.first else { throw .usage("a DEVICE must be named") }
            let place = try RequestPlace(device, words.operands.dropFirst().first, words.client)
            return try order(words, "/v1/devices/read", body: object(place.members)) { answer in
                let value = answer["value"].flatMap { $0 == .null ? nil : "  " + $0.spoken.printable } ?? ""
                return answer.text("hex") + value
            }
        }
    }
}

/// A device, and the part of it that is read or written.
struct RequestPlace {
    let members: [(StaticString, String)]

    /// - Parameter channel: a UUID, a stream, or a name that the device's profile gives one; nil for the only one.
    init(_ device: String, _ channel: String?, _ client: ControlClient) throws(Complaint) {
        guard let channel else {
            members = [("device", device)]
            return
        }
        let meant = try Self.channel(channel, of: device, client)
        let (field, text) = meant.wireName
        members = [("device", device), (field, text)]
    }

    private static func channel(_ word: String, of device: String, _ client: ControlClient) throws(Complaint) -> Channel
    {
        if let uuid = BluetoothUUID(word) { return .characteristic(uuid) }
        if let stream = Channel(stream: word) { return stream }
        let library = NamedPlaces.own.library
        let profile = try client.device(named: device).profile.flatMap { library.index(named: $0) }
        let names = profile.map { library[$0].channelNames } ?? [:]
        if let named = names.first(where: { $0.value == word }) { return named.key }
        let near = suggestion(for: word, among: Array(names.values))
        throw .notFound(
            "'\(word.printable)' is neither a UUID nor a name of the profile; 'wakebridge inspect \(device.printable)' "
                + "lists the characteristics.\(near)")
    }
}
