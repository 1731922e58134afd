// What a manifest and a handler may write about sockets: every mistake is refused with a sentence that names it.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("What is written about sockets")
struct SocketRuleTests {
    @Test(
        "every form of address is read, and written again as it was",
        arguments: [
            "connect tcp:sip.example.org:5060", "connect udp:[2001:db8::1]:53", "connect unix:/run/x.sock",
            "listen tcp:0.0.0.0:8080", "listen udp:[::]:5353", "listen unix:/run/handler/door",
            "connect tcp:my-host_1:1",
        ])
    func forms(text: String) throws {
        let (side, place) = (text.prefix { $0 != " " }, text.drop { $0 != " " }.dropFirst())
        let rules = try AgendaPlan.parsed("{sockets: [{name: 'a', \(side): '\(place)'}]}").sockets
        #expect(rules.map(\.address) == [text])
    }

    @Test(
        "a socket that cannot be is refused, and the sentence names what is wrong",
        arguments: [
            ("{}", "must be a list"), ("[1]", "must be an object"), ("[{}]", "lacks \"name\""),
            ("[{name: 'a'}]", "lacks \"connect\" and \"listen\""),
            ("[{name: '', connect: 'unix:/x'}]", "1 to 64 plain characters"),
            ("[{name: 'a b', connect: 'unix:/x'}]", "letters, digits"),
            ("[{name: 'a=b', connect: 'unix:/x'}]", "letters, digits"),
            ("[{name: 'a,b', connect: 'unix:/x'}]", "letters, digits"),
            ("[{name: 'ä', connect: 'unix:/x'}]", "letters, digits"),
            ("[{name: 7, connect: 'unix:/x'}]", "1 to 64 plain characters"),
            ("[{name: 'a', connect: 'unix:/x', listen: 'unix:/y'}]", "both \"connect\" and \"listen\""),
            ("[{name: 'a', connect: 7}]", "must be a text"), ("[{name: 'a', connect: ''}]", "must begin with"),
            ("[{name: 'a', connect: 'sip.example.org:5060'}]", "must begin with"),
            ("[{name: 'a', connect: 'http://x'}]", "must begin with"),
            ("[{name: 'a', connect: 'tcp:host'}]", "must end with a port"),
            ("[{name: 'a', connect: 'tcp:host:0'}]", "must end with a port"),
            ("[{name: 'a', connect: 'tcp:host:65536'}]", "must end with a port"),
            ("[{name: 'a', connect: 'tcp:host:-1'}]", "must end with a port"),
            ("[{name: 'a', connect: 'tcp::5060'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:a b:5060'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:a..b:1'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:1.2.3:1'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:-a:1'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:1.2.3.256:1'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:::1:5060'}]", "must name a host"),
            ("[{name: 'a', connect: 'tcp:[zz]:5060'}]", "must name a host"),
            ("[{name: 'a', listen: 'tcp:localhost:80'}]", "numeric address"),
            ("[{name: 'a', listen: 'udp:*:80'}]", "must name a host"),
            ("[{name: 'a', listen: 'tcp:8080'}]", "must end with a port"),
            ("[{name: 'a', connect: 'unix:x'}]", "must name an absolute path"),
            ("[{name: 'a', listen: 'unix:'}]", "must name an absolute path"),
            ("[{name: 'a', listen: 'unix:/'}]", "must name an absolute path"),
            ("[{name: 'a', listen: 'unix:/run/../etc/x'}]", "must name an absolute path"),
            ("[{name: 'a', listen: 'unix:/run/x/'}]", "must name an absolute path"),
            ("[{name: 'a', listen: 'unix:/\(String(repeating: "x", count: 107))'}]", "the limit is 107 bytes"),
            ("[{name: 'a', connect: 'unix:/x', keepalive: '9m'}]", "must be a time from 10m"),
            ("[{name: 'a', connect: 'unix:/x', keepalive: 900}]", "a duration in quotes"),
            ("[{name: 'a', connect: 'unix:/x', keepalive: '1m', keepalive_s: 900}]", "both \"keepalive\""),
            ("[{name: 'a', listen: 'unix:/x', keepalive: '10m'}]", "listens, and has \"keepalive\""),
            ("[{name: 'a', connect: 'unix:/x', tls: true}]", "no TCP connection"),
            ("[{name: 'a', listen: 'tcp:127.0.0.1:443', tls: true}]", "no TCP connection"),
            ("[{name: 'a', connect: 'udp:host:443', tls: true}]", "no TCP connection"),
            ("[{name: 'a', connect: 'tcp:host:443', tls: 'yes'}]", "must be true or false"),
            ("[{name: 'a', connect: 'unix:/x', fds: 'send'}]", "knows no \"send\""),
            ("[{name: 'a', connect: 'unix:/x', fd: 'pass'}]", "no key of a socket"),
            ("[{name: 'a', connect: 'unix:/x'}, {name: 'a', connect: 'unix:/y'}]", "Two sockets have the name"),
            ("[{name: 'a', listen: 'unix:/x'}, {name: 'b', listen: 'unix:/x'}]", "Two sockets listen at"),
        ])
    func faults(text: String, expected: String) throws {
        do {
            _ = try AgendaPlan.parsed("{sockets: \(text)}")
            Issue.record("it was taken: \(text)")
        } catch let fault as ProtocolFault {
            #expect(fault.sentence.contains(expected), "\(fault.sentence)")
        }
    }

    @Test("eight sockets are the most of one handler")
    func limit() throws {
        let list = { (count: Int) in
            "{sockets: [\((0..<count).map { "{name: 's\($0)', connect: 'unix:/\($0)'}" }.joined(separator: ","))]}"
        }
        #expect(try AgendaPlan.parsed(list(8)).sockets.count == 8)
        #expect(throws: ProtocolFault.self) { try AgendaPlan.parsed(list(9)) }
    }

    @Test(
        "an order that cannot be carried out is answered with what is wrong",
        arguments: [
            (#"{"keepalive":{"socket":"sip","within_s":599}}"#, "malformed", "a time from 10m"),
            (#"{"keepalive":{"within_s":900}}"#, "malformed", "lacks \"socket\""),
            (#"{"keepalive":"sip"}"#, "malformed", "must be an object"),
            (#"{"keepalive":{"socket":"sip","every_s":900}}"#, "unknown-key", "no key of \"keepalive\""),
            (#"{"keepalive":{"socket":"sap"}}"#, "not-registered", "declares no such socket; the nearest is \"sip\""),
            (#"{"keepalive":{"socket":"web"}}"#, "conflict", "listens"),
            (#"{"reconnect":"sap"}"#, "not-registered", "declares no such socket"),
            (#"{"reconnect":true}"#, "malformed", "must be a name"),
            (#"{"reconnect":""}"#, "malformed", "must be a name"),
        ])
    func orders(text: String, code: String, expected: String) throws {
        var world = AgendaWorld()
        try world.configure(
            "{sockets: [{name: 'sip', connect: 'tcp:192.0.2.1:5060'}, {name: 'web', listen: 'tcp:127.0.0.1:8080'}]}")
        let fault = try #require(try world.order(text).fault)
        #expect(fault.code.rawValue == code && fault.sentence.contains(expected), "\(fault)")
    }

    @Test("a handler whose manifest has no sockets may order nothing of them")
    func unpermitted() throws {
        var world = AgendaWorld()
        for text in [#"{"keepalive":{"socket":"sip"}}"#, #"{"reconnect":"sip"}"#] {
            #expect(try world.order(text).fault?.code == .notPermitted)
        }
    }
}
