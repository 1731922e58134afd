// Files of published messages that say what cannot be: each fault names its place.
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

@Suite("Files of published messages")
struct VectorTests {
    private func faults(_ keys: String) -> [String] {
        do throws(ConfigurationErrors) {
            let text = "{vectors: [{\(keys), source: \"s\"}]}"
            _ = try Vector.read(Array(text.utf8), file: "vectors.json5", kind: .bluetoothCentral)
            return []
        } catch { return error.all.map(\.sentence) }
    }

    @Test(
        "a message that cannot be, or of which two things are expected, is refused",
        arguments: [
            (
                #"stream: "2a6e", hex: "01", value: null, address: "zz""#,
                "vectors[0].address must be six bytes in hexadecimal"
            ),
            (
                #"stream: "2a6e", hex: "01", value: null, address: "A4:C1:38:0A:0B""#,
                "vectors[0].address must be six bytes in hexadecimal"
            ),
            (
                #"stream: "2a6e", hex: "01", value: {a: 1}, undecodable: "too short""#,
                "vectors[0] has value and undecodable; keep one"
            ),
            (
                "manufacturer_data: \"0499\", hex: \"\(String(repeating: "01", count: 253))\", value: null",
                "vectors[0] has 253 bytes, more than a part of an advertisement can have"
            ),
            (
                "service_data: \"fcd2\", pieces: [\"01\", \"\(String(repeating: "01", count: 253))\"], value: null",
                "vectors[0] has 253 bytes, more than a part of an advertisement can have"
            ),
        ])
    func refused(keys: String, expected: String) {
        let sentences = faults(keys)
        #expect(sentences.count == 1 && sentences.allSatisfy { $0.hasPrefix(expected) }, "\(sentences)")
    }

    @Test(
        "an address may have colons or none, and a broadcast all that an advertisement holds",
        arguments: [
            #"stream: "2a6e", hex: "01", value: null, address: "A4:C1:38:0a:0b:0c""#,
            #"stream: "2a6e", hex: "01", undecodable: "too short", address: "a4c1380a0b0c""#,
            "manufacturer_data: \"0499\", hex: \"\(String(repeating: "01", count: 252))\", value: null",
        ])
    func taken(keys: String) { #expect(faults(keys) == []) }
}
