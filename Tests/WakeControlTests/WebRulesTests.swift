// The admission of clients over TCP, decided without a socket: names, origins, wrong tokens, slow senders and roles.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import WakeControl

@Suite("Over TCP") struct WebRulesTests {
    private let rules = HostRules(names: ["Pi.local", "bridge.example"])
    private let own = NetworkAddress("192.168.1.5:8787")

    @Test(
        "the bridge answers to loopback, its own address and its names, with any port",
        arguments: [
            "localhost", "LOCALHOST:8787", "127.0.0.1", "127.9.9.9:1", "[::1]:8787", "192.168.1.5", "192.168.1.5:8787",
            "pi.local:8787", "bridge.example",
        ])
    func ownNames(host: String) {
        #expect(rules.refusal(hosts: [host], origins: [], own: own) == nil)
    }

    @Test(
        "another name is refused, so that a foreign page cannot give the bridge a name of its own",
        arguments: [
            [], ["evil.example"], ["192.168.1.6"], ["localhost.evil.example"], ["127.0.0.1.evil.example:80"],
            ["pi.local:port"], [""], ["localhost", "localhost"], ["[::1"], ["[::1]evil"], ["localhost:80@evil.example"],
        ])
    func foreignNames(hosts: [String]) {
        #expect(rules.refusal(hosts: hosts, origins: [], own: own)?.code == "wrong-host", "\(hosts)")
    }

    @Test("a request of another site's page is refused, and one of the bridge's own goes on")
    func origins() {
        func code(_ origin: String, _ host: String = "pi.local:8787") -> String? {
            rules.refusal(hosts: [host], origins: [origin], own: own)?.code
        }
        #expect(code("http://pi.local:8787") == nil && code("https://PI.local:8787") == nil)
        #expect(code("http://pi.local", "pi.local:80") == nil && code("https://pi.local:443", "pi.local") == nil)
        for foreign in [
            "null", "", "http://pi.local", "http://pi.local:3000", "http://evil.example", "file://", "pi.local:8787",
            "http://pi.local:8787.evil.example",
        ] { #expect(code(foreign) == "foreign-origin", "\(foreign)") }
    }

    @Test("an address is numeric with a port, and IPv4 within IPv6 is IPv4")
    func addresses() {
        for text in ["", ":80", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "localhost:80", "::1:80", "[::1]"] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }
        for text in ["127.0.0.1:8787", "[::1]:1", "0.0.0.0:65535", "[fe80::1]:80"] {
            #expect(NetworkAddress(text)?.description == text)
        }
        #expect(NetworkAddress("[::ffff:10.0.0.1]:80") == NetworkAddress("10.0.0.1:80"))
        #expect(NetworkAddress("127.3.2.1:80")?.isLoopback == true && NetworkAddress("[::]:80")?.isUnspecified == true)
    }

    @Test("ten wrong tokens in a minute are refused at once, and further ones of that address later")
    func slowdown() {
        var wrong = WrongTokens()
        let (guesser, other) = (NetworkAddress("10.0.0.1:1"), NetworkAddress("10.0.0.2:1"))
        let start = Instant(nanoseconds: 0)
        let first = (0..<12).map { _ in wrong.count(from: guesser, at: start) }
        #expect(first == Array(repeating: .refuseNow, count: 10) + [.refuseLaterAndLog, .refuseLater])
        #expect(wrong.count(from: NetworkAddress("10.0.0.1:999"), at: start) == .refuseLater)
        #expect(wrong.count(from: other, at: start) == .refuseNow)
        #expect(wrong.count(from: guesser, at: start + .seconds(61)) == .refuseNow)
    }

    @Test("a guesser with a network of addresses fills no memory, and one with IPv6 counts as one")
    func boundedMemory() {
        var wrong = WrongTokens()
        for number in 0..<10_000 {
            _ = wrong.count(from: NetworkAddress("10.0.\(number / 250).\(number % 250):1"), at: Instant(nanoseconds: 0))
        }
        #expect(wrong.networks == WrongTokens.capacity)
        var six = WrongTokens()
        for number in 1..<100 { _ = six.count(from: NetworkAddress("[2001:db8::\(number)]:1"), at: .zero) }
        #expect(six.networks == 1)
    }

    @Test("the slowest sender makes room for the newest: of the same address first, and never one that is answered")
    func room() {
        var owed = OwedRequests<Int>()
        for number in 0..<4 { owed.begin(number, from: [1], at: .zero + .seconds(Int64(number))) }
        #expect(owed.excess(over: 3, mostOfNetwork: 4, most: 8) == nil)
        #expect(owed.excess(over: 3, mostOfNetwork: 3, most: 8) == 0)
        owed.settle(0)
        #expect(owed.excess(over: 3, mostOfNetwork: 3, most: 8) == 1)
        owed.begin(4, from: [2], at: .zero + .seconds(9))
        #expect(owed.excess(over: 4, mostOfNetwork: 3, most: 8) == nil)
        #expect(owed.excess(over: 4, mostOfNetwork: 3, most: 4) == 1)
        for number in 0..<4 { owed.settle(number) }
        #expect(owed.excess(over: 4, mostOfNetwork: 3, most: 4) == 4)
    }

    @Test("who awaits the refusal of a wrong token makes room before the slowest sender")
    func heldForRefusal() {
        var owed = OwedRequests<Int>()
        for number in 0..<4 { owed.begin(number, from: [1], at: .zero + .seconds(Int64(number))) }
        owed.hold(2, at: .zero + .seconds(5))
        owed.hold(1, at: .zero + .seconds(6))
        #expect(owed.held == 2)
        #expect(owed.excess(over: 3, mostOfNetwork: 3, most: 8) == 2)
        owed.settle(2)
        #expect(owed.excess(over: 3, mostOfNetwork: 3, most: 8) == 1)
        owed.expect(1, from: .zero + .seconds(7))
        #expect(owed.held == 0 && owed.excess(over: 3, mostOfNetwork: 3, most: 8) == 0)
    }

    @Test("of many that only connect, the slowest of the network with most of them makes room, and none that has asked")
    func newcomers() {
        var owed = OwedRequests<Int>()
        for number in 0..<4 { owed.begin(number, from: [1], at: .zero + .seconds(Int64(number))) }
        owed.begin(9, from: [2], at: .zero)
        #expect(owed.excessNewcomer(most: 5) == nil)
        #expect(owed.excessNewcomer(most: 4) == 0)
        owed.welcome(0)
        #expect(owed.excessNewcomer(most: 4) == nil)
        #expect(owed.excessNewcomer(most: 3) == 1)
    }

    @Test("connections of a proxy count for the client of their request, and for nobody between two")
    func behindProxy() {
        var owed = OwedRequests<Int>()
        for number in 0..<5 { owed.begin(number, from: [], at: .zero + .seconds(Int64(number))) }
        #expect(owed.excess(over: 4, mostOfNetwork: 2, most: 8) == nil)
        for number in [0, 2, 4] { owed.attribute(number, to: [7]) }
        #expect(owed.excess(over: 4, mostOfNetwork: 2, most: 8) == 0)
        owed.expect(0, from: .zero + .seconds(9))
        #expect(owed.excess(over: 4, mostOfNetwork: 2, most: 8) == nil)
    }

    @Test(
        "the last address in a named proxy's X-Forwarded-For counts, and what others send there does not",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("10.9.9.9, 192.0.2.1", "192.0.2.1"), ("192.0.2.1:4711 ", "192.0.2.1"),
            ("2001:db8::7", "[2001:db8::7]"), ("[2001:db8::7]:443", "[2001:db8::7]"), ("unknown", "10.0.0.9"),
            ("", "10.0.0.9"),
        ])
    func forwarded(header: String, host: String) throws {
        var settings = WebSettings(listen: try #require(own))
        settings.proxies = [[10, 0, 0, 9]]
        let (proxy, stranger) = (NetworkAddress("10.0.0.9:5000"), NetworkAddress("10.0.0.8:5000"))
        #expect(settings.origin(of: proxy, forwardedFor: ["203.0.113.1", header])?.host == host)
        #expect(settings.origin(of: stranger, forwardedFor: [header]) == stranger)
        #expect(settings.origin(of: proxy, forwardedFor: []) == proxy)
    }

    @Test("a request must be whole fifteen seconds after it was owed, and nothing is due while none is")
    func deadline() {
        var owed = OwedRequests<Int>()
        #expect(owed.due == nil)
        owed.begin(1, from: [], at: .zero)
        #expect(owed.due == .zero + .seconds(15))
        #expect(owed.overdue(at: .zero + .seconds(14)) == [] && owed.overdue(at: .zero + .seconds(15)) == [1])
        owed.settle(1)
        #expect(owed.due == nil && owed.overdue(at: .zero + .seconds(99)) == [])
        owed.expect(1, from: .zero + .seconds(50))
        #expect(owed.due == .zero + .seconds(65))
        owed.end(1)
        #expect(owed.due == nil)
    }

    @Test("each role holds those before it, and each address says which it needs")
    func roles() {
        #expect(AccessRole.read < .operate && AccessRole.operate < .pair)
        let needed = Dictionary(
            API.routes.all.map { ("\($0.method) \($0.address)", $0.role) }, uniquingKeysWith: { first, _ in first })
        #expect(needed["GET /v1/status"] == .read && needed["POST /v1/reload"] == .operate)
        #expect(needed["POST /v1/devices/forget"] == .pair)
        let open = API.routes.all.filter { $0.role == nil }.map(\.address)
        #expect(open.sorted() == ["/v1/hooks/TOKEN", "/v1/login", "/v1/logout", "/v1/me", "/v1/openapi.json"])
        for route in API.routes.all where route.method == "POST" { #expect(route.role != .read) }
    }

    @Test("a request without the role is refused before its body is looked at")
    func refusedByRole() {
        func code(_ method: String, _ path: String, _ role: AccessRole?, from address: NetworkAddress? = nil) -> String?
        {
            var request = ControlRequest(method: method, path: path.split(separator: "/").map(String.init))
            (request.access, request.address) = (role.map(Access.role), address)
            request.body = Array("nonsense".utf8)
            do { _ = try API.read(request) } catch { return error.code }
            return nil
        }
        #expect(code("GET", "/v1/status", nil) == "no-token" && code("GET", "/v1/status", .read) == nil)
        #expect(
            code("POST", "/v1/reload", .read) == "role-too-low" && code("POST", "/v1/reload", .operate) == "bad-json")
        #expect(code("POST", "/v1/devices/forget", .operate) == "role-too-low")
        #expect(code("GET", "/v1/tokens", .pair) == nil)
        #expect(code("GET", "/v1/tokens", .pair, from: own) == "only-local")
    }

    @Test("members of the group have the role that the settings give them, root and the daemon's user every role")
    func localRoles() {
        let admission = LocalAdmission(daemonUser: 500, group: 44, groupRole: .read)
        #expect(admission.role(of: Peer(user: 0, groups: [])) == .pair)
        #expect(admission.role(of: Peer(user: 500, groups: [44])) == .pair)
        #expect(admission.role(of: Peer(user: 1, groups: [7, 44])) == .read)
        #expect(admission.role(of: Peer(user: 1, groups: [7])) == nil)
        #expect(LocalAdmission(daemonUser: 500, group: 44).role(of: Peer(user: 1, groups: [44])) == .pair)
        #expect(LocalAdmission(daemonUser: 500, group: nil).role(of: Peer(user: 1, groups: [0])) == nil)
    }
}
