// Devices that only broadcast, as the tool has them: their latest values, and their names, which the daemon keeps.
import WakeArguments
import WakeModel
import WakePairing
import WakeProfiles
import WakeSources
import WakeSystem

extension BluetoothStation {
    /// Whether nothing is to be had of it but what it broadcasts, so that it is not paired.
    func isBroadcaster(_ found: Neighbour) -> Bool {
        found.profile.flatMap { profiles.index(named: $0) }.map { profiles[$0].isOfBroadcasters } ?? false
    }

    /// A broadcaster's value, as its profile decodes it; nil for others, and for what does not fit.
    func broadcast(of found: Neighbour) -> [UInt8]? {
        guard isBroadcaster(found), let index = found.profile.flatMap({ profiles.index(named: $0) }),
            let bytes = found.peripheral.newestAdvertisement
        else { return nil }
        let decoder = profiles.decoder(index)
        let address = RadioAddress(found.peripheral.address).map { Array($0.sent.reversed()) } ?? []
        var memory = DeviceMemory()
        let heard = decoder.hear(
            bytes, from: .advertisement, of: DeviceMemory.Sender(address: address), at: SystemClock.monotonic(),
            after: &memory)
        var writer = JSONWriter()
        guard (try? decoder.decode(bytes, from: .advertisement, heard: heard, into: &writer)) == true else {
            return nil
        }
        return writer.bytes
    }
}

/// A broadcaster that was found, and what it is to be called.
struct NamedBroadcaster {
    let found: Neighbour
    let alias: String

    private var order: [UInt8] { Verb.object([("device", found.peripheral.uri), ("name", alias)]) }

    var sentence: String {
        "\(alias.printable) (\(found.peripheral.address), \(found.profile ?? "")) is named: it broadcasts, and needs no pairing"
    }

    /// Orders the daemon to accept it from now on.
    func keep(_ words: ParsedArguments) throws(Complaint) {
        _ = try words.client.ask(.post, "/v1/devices/name", body: order)
    }

    func json() -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("alias", alias)
            writer.identity(of: found)
        }
    }

    /// A sentence of success where the daemon had it named; nil where it had not, or there is no daemon.
    static func forget(_ word: String, _ words: ParsedArguments) -> String? {
        let body = Verb.object([("device", word)])
        guard let answer = try? words.client.ask(.post, "/v1/devices/forget", body: body, within: .seconds(5)),
            answer.json["source"]?.string?.hasPrefix("/bluetooth/") == true
        else { return nil }
        return "forgot \(answer.json.text("alias")) (\(answer.json.text("source"))): it is not heard any more\n"
    }
}
