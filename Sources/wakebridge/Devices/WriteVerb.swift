// wakebridge write: writes a value to a device through the daemon, as a handler would.
import WakeArguments
import WakeModel

extension Verb {
    static var write: Verb {
        Verb(
            name: "write", summary: "write a value to a device, as a handler would",
            synopsis: ["[--json] DEVICE [CHARACTERISTIC] HEX", "[--json] DEVICE [CHARACTERISTIC] --text TEXT"],
            detail: """
                HEX is two digits a byte, such as 01ff. CHARACTERISTIC is as in 'read', and left out for an accessory, which
                has one node. Ends when the device has confirmed the value, or the kernel has taken it.
                """,
            examples: ["wakebridge write chest-strap 2a39 01", "wakebridge write display --text hello"],
            flags: [
                Flag("text", value: "TEXT", "these bytes of UTF-8 in place of HEX; nothing is added to them"), jsonFlag,
            ] + daemonFlags, operands: [.device, .free]
        ) { words throws(Complaint) in
            let text = words.value("text")
            try words.atMost(text == nil ? 3 : 2)
            var rest = words.operands[...]
            guard let device = rest.popFirst() else { throw .usage("a DEVICE must be named") }
            if text?.contains("\u{fffd}") == true {
                throw .usage("--text is no UTF-8, so it is not known which bytes are meant; write them as HEX")
            }
            let bytes = if let text { Array(text.utf8) } else { try bytes(of: rest.popLast()) }
            let place = try RequestPlace(device, rest.first, words.client)
            var digits: [UInt8] = []
            digits.appendHexadecimal(bytes)
            let members: [(StaticString, String)] = place.members + [("hex", String(decoding: digits, as: UTF8.self))]
            return try order(words, "/v1/devices/write", body: object(members)) { answer in
                "wrote \(bytes.count.counted("byte")) to \(answer.text("device"))"
            }
        }
    }

    private static func bytes(of word: String?) throws(Complaint) -> [UInt8] {
        guard let word else { throw .usage("say what to write: HEX, or --text TEXT") }
        guard let bytes = [UInt8](hexadecimal: word) else {
            throw .usage("'\(word)' is no hexadecimal such as 01ff; write letters with --text")
        }
        return bytes
    }
}
