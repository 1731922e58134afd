// The default routes as rtnetlink lists them, in a network namespace of the test's own, and lists that are spoilt.
import Glibc
import TestBench
import Testing

@testable import WakeSystem

@Suite("Routes", .serialized, .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
struct DefaultRoutesTests {
    /// Two ends of a cable; without a peer that is up, the near end has no carrier.
    private func cable(_ network: OwnNamespace, _ name: String = "near") throws {
        try network.ip("link add \(name) type veth peer name \(name)-far")
        try network.ip("address add 192.0.2.2/24 dev \(name)")
        try network.ip("link set \(name) up")
        try network.ip("link set \(name)-far up")
    }

    private func links() throws -> Set<String> { try DefaultRoutes.read().defaultLinks }

    @Test("a default route counts while its link has a carrier, for IPv4 and IPv6 alike")
    func carrier() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        #expect(try links() == [])
        try cable(network)
        #expect(try links() == [], "a route to the neighbours leads nowhere else")
        try network.ip("route add default via 192.0.2.1")
        #expect(try Patience.wait { try links() == ["near"] })
        try network.ip("link set near-far down")
        #expect(try Patience.wait { try links() == [] })
        try network.ip("link set near-far up")
        #expect(try Patience.wait { try links() == ["near"] })
        try network.ip("address delete 192.0.2.2/24 dev near")
        #expect(try links() == [])
        try network.ip("-6 route add default dev near")
        #expect(try Patience.wait { try links() == ["near"] })
    }

    @Test("a default route over several links counts for each; one that refuses, or of another table, for none")
    func others() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        try cable(network)
        try network.ip("route add unreachable default metric 50")
        try network.ip("-6 route add blackhole default metric 50")
        try network.ip("route add default via 192.0.2.1 table 100")
        #expect(try links() == [])
        try network.ip("link add second type veth peer name second-far")
        try network.ip("address add 198.51.100.2/24 dev second")
        try network.ip("link set second up")
        try network.ip("link set second-far up")
        try network.ip("route add default nexthop via 192.0.2.1 nexthop via 198.51.100.1")
        #expect(try Patience.wait { try links() == ["near", "second"] })
    }

    @Test("patterns name links, and only those that a default route leads over")
    func patterns() {
        let table = DefaultRoutes(defaultLinks: ["wwan0", "eth0"])
        #expect(table.leads(over: ["wwan*"]) && table.leads(over: ["ppp*", "eth?"]))
        #expect(!table.leads(over: ["ppp*", "wan", "eth"]) && !table.leads(over: []))
    }

    @Test("a change is told once for all that came, and an overflow of ten thousand like any other")
    func events() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let events = try RouteEvents()
        #expect(!isReadable(events.raw))
        try cable(network)
        #expect(isReadable(events.raw))
        try events.discard()
        #expect(!isReadable(events.raw))
        let file = makeDirectory("/tmp/wakebridge-routes-XXXXXX")
        defer { Directory.removeTree(file) }
        let turns = (0..<5_000).map { _ in "route add 203.0.113.0/24 dev near\nroute del 203.0.113.0/24 dev near\n" }
        put(turns.joined(), at: "\(file)/batch")
        try network.ip("-batch \(file)/batch")
        #expect(drops() > 0, "the socket has lost some")
        try events.discard()
        #expect(!isReadable(events.raw))
        try network.ip("route add default via 192.0.2.1")
        #expect(isReadable(events.raw))
        #expect(try Patience.wait { try links() == ["near"] })
    }

    private func isReadable(_ raw: Int32) -> Bool {
        var asked = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, 0) > 0
    }

    /// Of all sockets of this network together.
    private func drops() -> Int {
        lines(of: "/proc/thread-self/net/netlink").dropFirst().reduce(0) { sum, line in
            let fields = line.split(separator: " ")
            return sum + (fields.count > 8 ? Int(fields[8]) ?? 0 : 0)
        }
    }
}

@Suite("Lists of routes that are spoilt")
struct RouteListingTests {
    /// A message with its header: length, type, flags, and eight bytes that nothing asks for.
    private func message(_ type: UInt8, flags: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
        [UInt8(16 + body.count), 0, 0, 0, type, 0, flags, 0] + [UInt8](repeating: 0, count: 8) + body
    }

    private let link: [UInt8] =
        [0, 0, 1, 0, 7, 0, 0, 0, 0x43, 0x10, 1, 0, 0, 0, 0, 0] + [8, 0, 3, 0] + Array("lan\0".utf8)
    private let route: [UInt8] = [2, 0, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0, 8, 0, 4, 0, 7, 0, 0, 0]

    @Test("a list is complete with its last message, and one that changed meanwhile is not used")
    func completeness() {
        var listing = RouteListing()
        #expect(listing.add(message(16, link)[...]) == .more)
        #expect(listing.add((message(24, route) + message(3, [0, 0, 0, 0]))[...]) == .complete)
        #expect(listing.defaultLinks == ["lan"])
        #expect(listing.add((message(24, flags: 0x10, route) + message(3, [0, 0, 0, 0]))[...]) == .spoilt)
        #expect(listing.add(message(2, [0, 0, 0, 0])[...]) == .spoilt)
    }

    @Test("no datagram that is cut short or says wrong lengths does any harm")
    func cut() {
        let whole = message(16, link) + message(24, route)
        for count in whole.indices {
            var listing = RouteListing()
            _ = listing.add(whole.prefix(count))
            #expect(listing.defaultLinks == [])
        }
        for place in whole.indices {
            for value: UInt8 in [0, 1, 3, 255] {
                var listing = RouteListing()
                var bytes = whole
                bytes[place] = value
                _ = listing.add(bytes[...])
                #expect(listing.defaultLinks.count <= 1)
            }
        }
    }
}
