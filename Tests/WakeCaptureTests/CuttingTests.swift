// Recordings of devices that a profile knows: what was recorded is handed to it, with what is known of the device.
import Testing
import WakeModel
import WakeTrace

@testable import WakeCapture

/// Takes pairs of bytes for messages of devices with one property.
private struct PairCutting: MessageCutting {
    struct Pairs: MessageCutter {
        let channel: Channel
        var open: [UInt8] = []

        mutating func append(_ bytes: [UInt8], at time: TimeSpan) -> [(channel: Channel, bytes: [UInt8])] {
            open += bytes
            let whole = open.count / 2 * 2
            defer { open.removeFirst(whole) }
            return stride(from: 0, to: whole, by: 2).map { (channel, [open[$0], open[$0 + 1]]) }
        }

        func end() -> [(channel: Channel, bytes: [UInt8])] { open.isEmpty ? [] : [(.fragment(.cutShort), open)] }
    }

    let property: String

    func cutter(for device: TraceDevice, of channel: Channel) -> (any MessageCutter)? {
        device.properties.contains { "\($0.key)=\($0.value)" == property } ? Pairs(channel: channel) : nil
    }
}

private func told(_ text: String, _ property: String, _ terms: ImportTerms = ImportTerms()) throws -> [String] {
    var recording = TraceImport(terms, cutting: PairCutting(property: property))
    try recording.add(HeldBytes(Array(text.utf8)))
    let imported = try recording.finish()
    let held = HeldTrace()
    try imported.write(to: held)
    var (reader, told) = (TraceReader(bytes: held.bytes), [String]())
    while let operation = try reader.next() {
        guard case .data(let channel, let bytes)? = operation.kind else { continue }
        told.append("\(channel.wireName.text) \(String(decoding: bytes, as: UTF8.self))")
    }
    return told
}

@Suite("Recordings that a profile cuts")
struct CuttingTests {
    @Test("bytes of a serial line become the messages of the profile that --as names, and lines without one")
    func serial() throws {
        var terms = ImportTerms()
        (terms.isSerial, terms.alias) = (true, "pairs")
        #expect(
            try told("ab\ncd\ne", "WAKEBRIDGE_DEVICE=pairs", terms) == [
                "serial ab", "serial \nc", "serial d\n", "serial-cut-short e",
            ])
        #expect(try told("ab\ncd\ne", "WAKEBRIDGE_DEVICE=other", terms) == ["serial ab", "serial cd", "serial e"])
    }

    @Test("a script of a serial line is cut alike")
    func script() throws {
        #expect(
            try told("d 0 /dev/ttyUSB0\nr 5 abc\nr 5 d\n", "WAKEBRIDGE_DEVICE=x") == ["serial abcd"])
    }

    /// Two batches of keys.
    private func evemu(_ head: String) -> String {
        """
        # EVEMU 1.3
        N: Scanner
        I: 0003 0c2e 0901 0111
        \(head)E: 1.000000 0001 0041 1
        E: 1.000000 0000 0000 0
        E: 1.002000 0001 0041 0
        E: 1.002000 0000 0000 0

        """
    }

    @Test("an input device has the properties that udev gives it, by its description or else by its events")
    func abilities() throws {
        let keyboard = "B: 01 fe ff ff ff ff ff ff ff\n"
        for (head, expected) in [("", true), (keyboard, true), ("B: 01 00 00 00 00 00 00 00 00\n", false)] {
            let result = try TraceImport.run(Array(evemu(head).utf8))
            let properties = result.header.devices.first?.properties.map { "\($0.key)=\($0.value)" }
            let common = ["ID_MODEL_ID=0901", "ID_VENDOR_ID=0c2e"]
            #expect(properties == (expected ? ["ID_INPUT_KEYBOARD=1"] : []) + common, "\(head)")
            // By the first batch the device is known.
            let messages = try told(evemu(head), "ID_INPUT_KEYBOARD=1")
            #expect(messages.count == (expected ? 8 : 2))
        }
    }

    @Test("the pointer, the tablet and the stick are told apart by their codes")
    func classes() {
        func names(_ events: [(UInt16, UInt16)]) -> [String] {
            var abilities = InputAbilities()
            for (type, code) in events { abilities.see(type, code) }
            return abilities.properties.map(\.key)
        }
        #expect(names([(2, 0), (2, 1), (1, 0x110)]) == ["ID_INPUT_MOUSE"])
        #expect(names([(3, 0), (3, 1), (1, 0x14b)]) == ["ID_INPUT_TABLET"])
        #expect(names([(3, 0), (3, 1), (1, 0x130)]) == ["ID_INPUT_JOYSTICK"])
        #expect(names([(4, 4), (0, 0)]) == [])
    }
}
