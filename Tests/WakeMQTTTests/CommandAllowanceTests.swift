// What the settings allow over the broker, and what they do not.
import Testing
import WakeModel

@testable import WakeMQTT

@Suite("Commands that the settings allow")
struct CommandAllowanceTests {
    private let topics = BridgeTopics(base: "wakebridge", bridge: "pi")

    private func isAllowed(
        _ kind: BridgeCommand.Kind, of name: String, _ payload: String, by entries: String...
    ) throws -> Bool {
        let message = MQTTMessage(topics.command(kind, of: name), Array(payload.utf8))
        let entries = try entries.map { try #require(CommandAllowance.Entry($0)) }
        return CommandAllowance(Set(entries)).allows(try BridgeCommand(kind, of: name, message))
    }

    @Test("one characteristic of one device may be written, however it is written down, and no other")
    func narrow() throws {
        let tone = "write:lock.2A06"
        for written in ["2a06", "2A06", "00002a06-0000-1000-8000-00805f9b34fb"] {
            #expect(try isAllowed(.write, of: "lock", "{\"characteristic\":\"\(written)\",\"hex\":\"00\"}", by: tone))
        }
        #expect(try !isAllowed(.write, of: "lock", "{\"characteristic\":\"2a07\",\"hex\":\"00\"}", by: tone))
        #expect(try !isAllowed(.write, of: "strap", "{\"characteristic\":\"2a06\",\"hex\":\"00\"}", by: tone))
        #expect(try !isAllowed(.read, of: "lock", "{\"characteristic\":\"2a06\"}", by: tone))
        #expect(try !isAllowed(.write, of: "lock", "{\"hex\":\"00\"}", by: tone))
        #expect(
            try !isAllowed(
                .write, of: "lock", "{\"characteristic\":\"2a06\",\"stream\":\"x\",\"hex\":\"00\"}", by: tone))
    }

    @Test("a kind alone allows all of it, and a device's name may have dots")
    func wide() throws {
        #expect(try isAllowed(.read, of: "any", "{\"characteristic\":\"2a19\"}", by: "read"))
        #expect(try isAllowed(.wake, of: "h", "PRESS", by: "wake", "read:a.2a19"))
        #expect(try isAllowed(.read, of: "hall.north", "{\"characteristic\":\"2a19\"}", by: "read:hall.north.2a19"))
        #expect(try isAllowed(.write, of: "gps", "{\"stream\":\"serial\",\"hex\":\"00\"}", by: "write:gps.serial"))
        #expect(try !isAllowed(.session, of: "any", "open", by: "read", "write", "wake"))
    }

    @Test(
        "what is no entry is none",
        arguments: ["", "Write", "write:", "write:lock", "write:.2a06", "write:lock.", "session:lock.2a06", "wake:h"])
    func refuses(text: String) { #expect(CommandAllowance.Entry(text) == nil) }
}
