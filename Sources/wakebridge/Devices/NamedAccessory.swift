// The verbs pair and forget for accessories: send the operator's names to the daemon, which keeps them.
import WakeArguments
import WakeModel
import WakePairing

/// The device that a command line names.
enum NamedDevice {
    case accessory(NamedAccessory)
    /// A Bluetooth peripheral, or no particular device.
    case other
    /// The daemon did not answer for accessories; the value is the reason.
    case unknown(String)

    init(_ words: ParsedArguments) throws(Complaint) {
        let isAccessorys = words.has("as")
        guard let word = try words.optional() else {
            guard isAccessorys else {
                self = .other
                return
            }
            throw .usage("--as is said of an accessory, and none was named")
        }
        do throws(Complaint) {
            if try NamedAccessory.knows(word, words) {
                self = .accessory(try NamedAccessory(word, words))
                return
            }
        } catch {
            guard !error.isUsage, !isAccessorys else { throw error }
            self = .unknown(error.sentence)
            return
        }
        guard !isAccessorys else {
            throw .usage("--as is said of an accessory, and '\(word.printable)' is none that the daemon knows")
        }
        self = .other
    }

    /// A device that `search` does not find may be an accessory of a daemon that could not be asked.
    func explain<Found>(_ search: () throws(Complaint) -> Found) throws(Complaint) -> Found {
        do throws(Complaint) { return try search() } catch {
            guard case .unknown(let reason) = self, !error.isUsage else { throw error }
            let sentence = error.sentence
            let end = sentence.hasSuffix("?") || sentence.hasSuffix(".") ? "" : "."
            throw error.saying("\(sentence)\(end) Nor could accessories be looked at: \(reason)")
        }
    }
}

/// The accessory that a command line names.
struct NamedAccessory {
    private let words: ParsedArguments
    private let word: String

    fileprivate init(_ word: String, _ words: ParsedArguments) throws(Complaint) {
        if let other = ["yes", "passkey", "no-bond", "adapter"].first(where: { words.has($0) }) {
            throw .usage("'\(word.printable)' is an accessory, which --\(other) is not for")
        }
        self.words = words
        self.word = word
    }

    fileprivate static func knows(_ word: String, _ words: ParsedArguments) throws(Complaint) -> Bool {
        if ["/dev/", "/sys/", "/accessory/"].contains(where: { word.hasPrefix($0) }) { return true }
        if word.isEmpty { return false }
        let known = try words.client.ask(.get, "/v1/devices", within: .seconds(5)).json.list("devices")
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
