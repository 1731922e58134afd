// A device in the daemon's words, and the daemon's answer to which one a word means.
import WakeArguments
import WakeModel

struct ToldDevice: Hashable {
    let json: JSONValue
    let source: String

    init?(_ json: JSONValue) {
        guard let source = json["source"]?.string else { return nil }
        self.json = json
        self.source = source
    }

    var alias: String { json["alias"]?.string ?? source }
    var node: String? { json["node"]?.string }
    var profile: String? { json["profile"]?.string }
    var isBonded: Bool { json["bonded"]?.boolean ?? false }
    var isConnected: Bool { json["link"]?.string == "connected" }
    var lastData: String? { json["last_data"]?.string }
    var session: String? { json["session"]?.string }
    var why: String? { json["why"]?.string }
    var isAccessory: Bool { source.hasPrefix("/accessory/") }

    /// How it is, without its session.
    var state: String {
        if isAccessory { return isConnected ? "connected" : node == nil ? "not attached" : "attached" }
        return (isBonded ? "bonded, " : "") + (json["link"]?.string ?? "unknown")
    }
}

extension ControlClient {
    /// By the daemon's grammar of names, which is the one for all verbs.
    func device(named word: String) throws(Complaint) -> ToldDevice {
        let answer = try ask(.get, "/v1/devices?device=\(word.percentEncoded)", within: .seconds(5)).json
        guard let device = answer.list("devices").first.flatMap({ ToldDevice($0) }) else {
            throw .notFound("there is no device '\(word.printable)'; see which there are with: wakebridge devices")
        }
        return device
    }
}
