// Drafts of profiles: what never changes is told apart from what does, and every draft is a profile without a fault.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

@Suite("Drafts of profiles")
struct DraftTests {
    private static let header = """
        wakebridge-trace 1
        clock 2026-11-26T08:00:00Z
        device 1 bluetooth C0:DE:00:00:00:10 name="Box 7" service=180f service=fff0

        """

    private func draft(_ lines: [String], header: String = header) throws -> String {
        let text = header + lines.map { "+1 1 \($0)\n" }.joined() + "end\n"
        return try #require(try ProfileDraft(ofTrace: Array(text.utf8))).text(
            named: "box", known: [BluetoothUUID(short: 0x2a19): "battery_level"])
    }

    /// The only one of the shared definitions that a draft here takes: reading all of them takes longer than everything else.
    private static let shared = ShippedLibrary.shared.filter { $0.name == "2a19" }

    private func faults(of text: String) -> [String] {
        ProfileLibrary.load(
            [.init(name: "box", file: "box/profile.json5", text: Array(text.utf8))], shared: Self.shared
        ).errors.map(\.description)
    }

    @Test(
        "bytes that never change are a constant, and two that move as one number are one, in the order in which they do"
    )
    func parts() throws {
        let messages = (0..<20).map { (step: Int) -> [UInt8] in
            let (slow, fast) = (step * 40, step * 91)
            return [0xaa, 0x55, UInt8(slow & 255), UInt8(slow >> 8), 1, UInt8(fast & 255)]
        }
        let draft = try #require(ChannelDraft(messages))
        #expect(
            draft.lines
                == [
                    #"{ name: "constant_0", type: "bytes", length: 2, hidden: true },  // always aa55"#,
                    #"{ name: "bytes_2_number", type: "uint16" },  // 0 to 760"#,
                    #"{ name: "constant_4", type: "bytes", length: 1, hidden: true },  // always 01"#,
                    #"{ name: "byte_5_number", type: "uint8" },  // 0 to 255"#,
                ].map { $0.replacing("0 to 255", with: range(of: messages.map { $0[5] })) })
    }

    private func range(of bytes: [UInt8]) -> String { "\(bytes.min() ?? 0) to \(bytes.max() ?? 0)" }

    @Test("what only longer messages have is the rest, and text is text")
    func restAndText() throws {
        #expect(
            ChannelDraft([[1, 2], [1, 3, 9]])?.lines.last
                == #"{ name: "rest", type: "bytes" },  // messages have 2 to 3 bytes"#)
        #expect(ChannelDraft([Array("12.5 kg\r\n".utf8)])?.lines == [#"{ name: "text", type: "utf8" },"#])
        #expect(ChannelDraft([]) == nil && ChannelDraft([[]]) == nil)
    }

    @Test(
        "a draft of a peripheral matches its own services, and leaves known characteristics to their shared definition")
    func peripheral() throws {
        let text = try draft(["connect", "data 2a19 57", "data fff1 aa5501", "data fff1 aa5502"])
        #expect(text.contains(#"match: { services: ["fff0"] }"#) && text.contains(#"notify: ["2a19", "fff1"]"#))
        #expect(text.contains("// 2a19: battery_level") && text.contains("always aa55"))
        #expect(faults(of: text) == [])
    }

    @Test("a draft of a broadcaster matches what its broadcasts begin with")
    func broadcaster() throws {
        let header = Self.header.replacing(" service=180f service=fff0", with: "")
        let text = try draft(["data advertisement 05ff99040512", "data advertisement 05ff99040517"], header: header)
        #expect(text.contains(#"match: { broadcast: [{ company: "0499", starts: "05" }] }"#), "\(text)")
        #expect(faults(of: text) == [])
    }

    @Test("a draft of a serial accessory matches its USB numbers")
    func accessory() throws {
        let header = """
            wakebridge-trace 1
            clock 2026-11-26T08:00:00Z
            device 1 accessory 1546:01a7:0 property.ID_MODEL=gps property.ID_MODEL_ID=01a7 property.ID_VENDOR_ID=1546

            """
        let text = try draft(["connect", "data serial 2447504747412c"], header: header)
        #expect(text.contains(#"properties: { ID_MODEL_ID: "01a7", ID_VENDOR_ID: "1546" }"#), "\(text)")
        #expect(text.contains(#"node: "serial""#) && faults(of: text) == [])
    }

    @Test("two thousand random recordings make drafts without a fault")
    func random() throws {
        var dice = Dice(26)
        for _ in 0..<2_000 {
            let lines = (0..<(1 + dice.below(8))).map { _ -> String in
                let bytes = (0..<(1 + dice.below(20))).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
                let channel = ["2a19", "fff1", "fff2"][dice.below(3)]
                return dice.isOne(in: 4)
                    ? "data advertisement \(UInt8(bytes.count + 3).hexadecimal)ff9904\(bytes.hexadecimal)"
                    : "data \(channel) \(bytes.hexadecimal)"
            }
            let text = try draft(["connect"] + lines)
            #expect(faults(of: text) == [], "\(text)")
        }
    }
}

extension UInt8 {
    fileprivate var hexadecimal: String { [self].hexadecimal }
}
