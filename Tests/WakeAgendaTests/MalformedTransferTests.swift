// Everything that can be written badly of transfers, in manifests and orders: each gets its code, and a sentence about it.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Malformed transfers")
struct MalformedTransferTests {
    static let rules = [
        MalformedText("{}", .malformed, "must be a list of sessions"),
        MalformedText("'photos'", .malformed, "got \"photos\""),
        MalformedText("[7]", .malformed, "got 7"),
        MalformedText("[[]]", .malformed, "must be an object"),
        MalformedText("[{}]", .malformed, "lacks \"session\""),
        MalformedText("[{session: ''}]", .malformed, "1 to 64 plain characters"),
        MalformedText("[{session: 5}]", .malformed, "got 5"),
        MalformedText("[{session: null}]", .malformed, "1 to 64 plain characters"),
        MalformedText("[{session: 'a\\u0007'}]", .malformed, "plain characters"),
        MalformedText("[{session: 'a/b'}]", .malformed, "a slash"),
        MalformedText("[{sesion: 'a'}]", .unknownKey, "nearest is \"session\""),
        MalformedText("[{session: 'a', wake: 'no'}]", .malformed, "true or false"),
        MalformedText("[{session: 'a', wake: 1}]", .malformed, "got 1"),
        MalformedText("[{session: 'a', discretionary: 'maybe'}]", .malformed, "true or false"),
        MalformedText("[{session: 'a', parallel: 0}]", .malformed, "1 to 16"),
        MalformedText("[{session: 'a', parallel: 17}]", .malformed, "got 17"),
        MalformedText("[{session: 'a', parallel: '4'}]", .malformed, "1 to 16"),
        MalformedText("[{session: 'a', parallel: 1.5}]", .malformed, "1 to 16"),
        MalformedText("[{session: 'a', require: 'network'}]", .malformed, "list of conditions"),
        MalformedText("[{session: 'a', require: ['wifi']}]", .unknownToken, "no condition"),
        MalformedText("[{session: 'a', give_up: '30s'}]", .malformed, "\"give_up\""),
        MalformedText("[{session: 'a', give_up: '400d'}]", .malformed, "\"give_up\""),
        MalformedText("[{session: 'a', give_up: 3600}]", .malformed, "duration in quotes"),
        MalformedText("[{session: 'a', give_up_s: '1h'}]", .malformed, "number of seconds"),
        MalformedText("[{session: 'a', give_up: '1h', give_up_s: 3600}]", .conflict, "both"),
        MalformedText("[{session: 'a'}, {session: 'a'}]", .conflict, "is twice"),
        MalformedText("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", .tooMany, "16 are the most"),
    ]

    /// What an order says beside the name of its transfer.
    private static func order(_ members: String, _ code: ProtocolFault.Code, _ piece: String) -> MalformedText {
        MalformedText(#"{"transfer":{"session":"photos","id":"1",\#(members)}}"#, code, piece)
    }

    static let addresses = [
        "7", "null", #""""#, #""17.jpg""#, #""ftp://h/""#, #""file:///etc/passwd""#, #""http:///x""#,
        #""http://u:p@h/""#, #""http://h /""#, #""http://h\n/""#, #""http://ä/""#, #""javascript:x""#, #""//h/x""#,
        #""http://h\\@g/""#,
    ].map { order(#""url":\#($0),"to":"x""#, .malformed, "an address of http or https") }

    static let paths = [
        "7", #""""#, #""/x""#, #""../x""#, #""a/../x""#, #""./x""#, #""a//x""#, #""a/""#, #""a\u0000""#,
        #"".transfers/x""#,
    ].map { order(#""url":"http://h/","to":\#($0)"#, .malformed, "beneath the state directory") }

    static let orders = [
        MalformedText(#"{"transfer":true}"#, .malformed, "must be an object"),
        MalformedText(#"{"transfer":{}}"#, .malformed, "lacks \"session\""),
        MalformedText(#"{"transfer":{"session":"photos"}}"#, .malformed, "lacks \"id\""),
        MalformedText(#"{"transfer":{"session":"photos","id":17}}"#, .malformed, "got 17"),
        MalformedText(#"{"transfer":{"session":"photos","id":"/"}}"#, .malformed, "plain characters"),
        MalformedText(
            #"{"transfer":{"session":"phots","id":"1","url":"http://h/","to":"x"}}"#, .notRegistered,
            "nearest is \"photos\""),
        order(#""url":"http://h/""#, .malformed, "one of \"to\" and \"from\""),
        order(#""url":"http://h/","to":"x","from":"y""#, .malformed, "one of \"to\" and \"from\""),
        order(#""url":"http://h/","to":"x","method":"PUT""#, .conflict, "asked for by GET"),
        order(#""url":"http://h/","from":"x","method":"DELETE""#, .unknownToken, "knows no \"DELETE\""),
        order(#""url":"http://h/","from":"x","method":1"#, .malformed, "must be a word"),
        order(#""uri":"http://h/","to":"x""#, .unknownKey, "nearest is \"url\""),
        order(#""url":"http://h/","to":"x","sha256":"abc""#, .malformed, "64 hexadecimal digits"),
        order(#""url":"http://h/","to":"x","sha256":5"#, .malformed, "64 hexadecimal digits"),
        order(#""url":"http://h/","to":"x","expect_sent":1.5"#, .malformed, "a number of bytes"),
        order(#""url":"http://h/","to":"x","expect_received":-1"#, .malformed, "a number of bytes"),
        order(#""url":"http://h/","to":"x","paused":"yes""#, .malformed, "true or false"),
        order(#""url":"http://h/","to":"x","not_before_s":-1"#, .malformed, "\"not_before_s\""),
        order(#""url":"http://h/","to":"x","not_before":5"#, .malformed, "duration in quotes"),
        order(#""url":"http://h/","to":"x","deadline_s":0"#, .malformed, "\"deadline_s\""),
        order(#""url":"http://h/","to":"x","deadline":"1h","deadline_s":5"#, .conflict, "both"),
        order(#""url":"http://h/","to":"x","not_before_s":9,"deadline_s":9"#, .conflict, "earliest begin"),
        MalformedText(#"{"resume":17}"#, .malformed, "the name of a transfer"),
        MalformedText(#"{"resume":"photos/"}"#, .malformed, "the name of a transfer"),
        MalformedText(#"{"resume":"/17"}"#, .malformed, "the name of a transfer"),
        MalformedText(#"{"resume":"photos/9"}"#, .notRegistered, "no such transfer is open"),
        MalformedText(#"{"credential":true}"#, .malformed, "must be an object"),
        MalformedText(#"{"credential":{}}"#, .malformed, "the name of a transfer"),
        MalformedText(
            #"{"credential":{"transfer":"photos/9","user":"u","pasword":"p"}}"#, .unknownKey, "nearest is \"password\""),
        MalformedText(#"{"credential":{"transfer":"photos/9","user":"u"}}"#, .malformed, "\"password\""),
        MalformedText(
            #"{"credential":{"transfer":"photos/9","user":"u:v","password":"p"}}"#, .malformed, "a colon"),
    ]

    @Test("a manifest's sessions", arguments: rules)
    func manifests(_ one: MalformedText) throws {
        let value = try JSONValue(json5: Array(one.text.utf8))
        var found: ProtocolFault?
        do throws(ProtocolFault) { _ = try TransferRule.list(value) } catch { found = error }
        one.check(found)
    }

    @Test("a handler's orders, after which nothing is pending", arguments: orders + addresses + paths)
    func orderLines(_ one: MalformedText) throws {
        var world = AgendaWorld()
        try world.configure("{transfers: [{session: 'photos'}]}")
        one.check(try world.order(one.text).fault)
        #expect(world.pending.isEmpty && world.raised.isEmpty)
    }

    @Test("a password that is refused stands in no sentence")
    func silence() throws {
        var world = AgendaWorld()
        try world.configure("{transfers: [{session: 'photos'}]}")
        for password in [#"["hunter2"]"#, #"{"is":"hunter2"}"#, #""hunter2\u0000""#] {
            let order = #"{"credential":{"transfer":"photos/9","user":"u","password":\#(password)}}"#
            let fault = try #require(try world.order(order).fault)
            #expect(!fault.description.contains("hunter2"), "\(fault)")
        }
    }

    @Test("these are more than sixty")
    func isLongEnough() { #expect(Self.rules.count + Self.orders.count + Self.addresses.count + Self.paths.count > 60) }
}
