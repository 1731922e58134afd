// pair and forget for accessories: what people say of them is told to the daemon, which keeps it.
import WakeModel
import WakeWords

/// The accessory that a command line is about.
struct NamedAccessory {
    private let words: ParsedWords
    private let word: String

    /// Nil where it is about a Bluetooth peripheral, or about nothing in particular.
    init?(_ words: ParsedWords) throws(Complaint) {
        let isAccessorys = words.has("as")
        guard let word = try words.optional() else {
            guard isAccessorys else { return nil }
            throw .usage("--as is said of an accessory, and none was named")
        }
        guard Self.isAccessory(word, words) else {
            guard isAccessorys else { return nil }
            throw .usage("--as is said of an accessory, and '\(word.printable)' is none that the daemon knows")
        }
        if let other = ["yes", "passkey", "no-bond", "adapter"].first(where: { words.has($0) }) {
            throw .usage("'\(word.printable)' is an accessory, which --\(other) is not for")
        }
        self.words = words
        self.word = word
    }

    private static func isAccessory(_ word: String, _ words: ParsedWords) -> Bool {
        if ["/dev/", "/sys/", "/accessory/"].contains(where: { word.hasPrefix($0) }) { return true }
        guard !word.isEmpty, let answer = try? words.client.ask(.get, "/v1/devices", within: .seconds(5)) else {
            return false
        }
        let known = answer.json.list("devices")
        let meant = known.first { $0["alias"]?.string == word } ?? known.first { $0["source"]?.string == word }
        return meant?["source"]?.string?.hasPrefix("/accessory/") == true
    }

    func name() throws(Complaint) -> Int32 {
        var order: [(StaticString, String)] = [("device", word)]
        if let alias = words.value("alias") { order.append(("name", try PairingOrder.alias(alias))) }
        if let identity = words.value("as") { order.append(("as", identity)) }
        guard order.count > 1 else {
            throw .usage("an accessory needs no pairing; name it with --alias, or say which of several it is with --as")
        }
        return try Verb.order(words, "/v1/devices/name", body: Verb.object(order)) { device in
            let place = device["node"]?.string.map { "\($0.printable), " } ?? ""
            return "\(device.text("alias")) (\(place)\(device.text("source"))) is known by that name"
        }
    }

    func forget() throws(Complaint) -> Int32 {
        try Verb.order(words, "/v1/devices/forget", body: Verb.object([("device", word)])) { device in
            let stays = device["node"]?.string.map { "; \($0.printable) is still attached, and new from here on" } ?? ""
            return "forgot \(device.text("alias")) (\(device.text("source")))\(stays)"
        }
    }
}
