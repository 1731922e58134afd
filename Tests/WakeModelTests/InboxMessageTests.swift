// Messages as headers and JSON say them: what is taken, and what is refused with which sentence.
import Testing

@testable import WakeModel

@Suite("Messages that are sent to handlers")
struct InboxMessageTests {
    typealias Headers = [InboxMessage.Header: String]

    private func message(_ headers: Headers, _ payload: [UInt8] = []) throws(ProtocolFault) -> InboxMessage {
        try InboxMessage(payload: payload) { headers[$0] }
    }

    private func fault(of work: () throws(ProtocolFault) -> Void) -> ProtocolFault? {
        do throws(ProtocolFault) { try work() } catch { return error }
        return nil
    }

    @Test("headers of RFC 8030 are read; the urgency is no matter of capitals")
    func headers() throws {
        let found = try message([.lifetime: "60", .topic: "a-b_C9", .urgency: "High", .contentType: "text/plain"])
        #expect(found.lifetime == .seconds(60) && found.topic == "a-b_C9" && found.urgency == .high)
        #expect(found.contentType == "text/plain")
        #expect(try message([:]).urgency == .normal)
    }

    @Test("a life beyond all reckoning is the longest there is")
    func longest() throws {
        for text in ["31622400", "99999999999", "99999999999999999999999999"] {
            #expect(try message([.lifetime: text]).lifetime == .seconds(366 * 86_400))
        }
    }

    @Test("a message is as long as 4 KiB, and no longer")
    func length() throws {
        #expect(try message([:], Array(repeating: 0, count: 4_096)).payload.count == 4_096)
        #expect(throws: ProtocolFault.self) { try message([:], Array(repeating: 0, count: 4_097)) }
    }

    @Test("as JSON it is written and read as the same", arguments: texts)
    func sameAsJSON(_ text: String) throws {
        let found = try InboxMessage(JSONValue(parsing: Array(text.utf8)))
        var writer = JSONWriter()
        found.write(into: &writer)
        #expect(try InboxMessage(JSONValue(parsing: writer.bytes)) == found)
    }

    private static let texts = [
        "{}", #"{"payload":"hello"}"#, #"{"raw":"00ff"}"#, #"{"payload":"ü\u0000\n","topic":"a","urgency":"very-low"}"#,
        #"{"payload":"x","ttl_s":0,"content_type":"application/json","mqtt":"home/cmd"}"#,
    ]

    @Test("what a header may not be is refused, and the sentence names the header", arguments: faultyHeaders)
    func refusedHeader(_ header: InboxMessage.Header, _ text: String) {
        let found = fault(of: { () throws(ProtocolFault) in _ = try message([header: text]) })
        #expect(found?.sentence.contains(header.rawValue) == true && found?.advice.isEmpty == false)
    }

    private static let faultyHeaders: [(InboxMessage.Header, String)] =
        [
            "", " ", "-1", "+1", "1.5", "1e3", "0x10", "1h", "60s", "six", "1 2", "١", "60,60", "NaN", "\u{0}1",
        ].map { (.lifetime, $0) }
        + [
            "", " ", "a b", "a/b", "a.b", "ä", "a+b", "a=", String(repeating: "x", count: 33), "\n", "a,b", "\"a\"",
        ].map { (.topic, $0) }
        + [
            "", "urgent", "very low", "normal,high", "1", "hi gh", "very_low", "lowest",
        ].map { (.urgency, $0) }
        + [
            "", "tëxt/plain", "text/plain\r\nX: 1", "\u{7f}", String(repeating: "x", count: 129),
        ].map { (.contentType, $0) }

    @Test("what is no message as JSON is refused", arguments: faultyJSON)
    func refusedJSON(_ text: String) throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        let found = fault(of: { () throws(ProtocolFault) in _ = try InboxMessage(value) })
        #expect(found?.sentence.hasSuffix(".") == true && found?.advice.isEmpty == false)
    }

    private static let faultyJSON = [
        "[]", "1", "null", #""hello""#, #"{"text":"x"}"#, #"{"payload":1}"#, #"{"payload":{}}"#, #"{"payload":null}"#,
        #"{"payload":"a","raw":"00"}"#, #"{"raw":"0"}"#, #"{"raw":"zz"}"#, #"{"raw":1}"#, #"{"ttl_s":-1}"#,
        #"{"ttl_s":1.5}"#, #"{"ttl_s":"60"}"#, #"{"ttl_s":null}"#, #"{"topic":""}"#, #"{"topic":1}"#,
        #"{"topic":"a b"}"#, #"{"urgency":"urgent"}"#, #"{"urgency":2}"#, #"{"content_type":""}"#, #"{"mqtt":""}"#,
        #"{"mqtt":1}"#,
    ]
}
