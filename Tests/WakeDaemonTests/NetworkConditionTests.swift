// The conditions of the network, with real links and routes of a namespace of the test's own, and a NetworkManager of its own.
import Glibc
import TestBench
import Testing
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeEngine

@Suite("Conditions of the network", .serialized, .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
struct NetworkConditionTests {
    private static let name = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let mock = "org.freedesktop.DBus.Mock"

    /// A link with a default route.
    private func connect(_ network: OwnNamespace, _ name: String) throws {
        try network.ip("link add \(name) type veth peer name \(name)-far")
        try network.ip("address add 192.0.2.2/24 dev \(name)")
        try network.ip("link set \(name)-far up")
        try network.ip("link set \(name) up")
        try network.ip("route add default via 192.0.2.1 dev \(name)")
    }

    @Test("the network comes with a route and goes with its carrier, its address or its link")
    func routes() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let bench = try ConditionBench()
        bench.open(.network)
        #expect(bench.last(.network) == false)
        try connect(network, "lan")
        #expect(try bench.becomes(.network, true))
        try network.ip("link set lan-far down")
        #expect(try bench.becomes(.network, false))
        try network.ip("link set lan-far up")
        #expect(try bench.becomes(.network, true))
        try network.ip("address delete 192.0.2.2/24 dev lan")
        #expect(try bench.becomes(.network, false))
        try network.ip("-6 route add default dev lan")
        #expect(try bench.becomes(.network, true))
        try network.ip("link delete lan")
        #expect(try bench.becomes(.network, false))
    }

    @Test("a link whose name says that it costs money is metered, while a default route leads over it")
    func meteredLinks() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let bench = try ConditionBench()
        bench.open(.unmetered)
        bench.open(.network)
        #expect(bench.last(.unmetered) == true, "no link costs nothing")
        try connect(network, "wwan0")
        #expect(try bench.becomes(.unmetered, false))
        #expect(try bench.becomes(.network, true))
        try network.ip("route delete default")
        #expect(try bench.becomes(.unmetered, true))
        #expect(try bench.becomes(.network, false))
    }

    @Test("both conditions share one source, which is closed with the last of them")
    func sharing() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let bench = try ConditionBench()
        func sockets() -> Int { lines(of: "/proc/thread-self/net/netlink").filter { $0.contains(" 0   ") }.count }
        let before = sockets()
        bench.open(.network)
        let one = sockets()
        bench.open(.unmetered)
        #expect(one == before + 1 && sockets() == one)
        bench.watches.close(.network)
        #expect(sockets() == one)
        try connect(network, "ppp0")
        #expect(try bench.becomes(.unmetered, false))
        #expect(bench.told[.network] == [false], "it was closed before")
        bench.watches.close(.unmetered)
        #expect(sockets() == before)
    }

    @Test("changes that come faster than they are read are lost, and what holds in the end is found all the same")
    func overflow() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let bench = try ConditionBench()
        bench.open(.network)
        try connect(network, "lan")
        #expect(try bench.becomes(.network, true))
        let turns = (0..<5_000).map { _ in "route add 203.0.113.0/24 dev lan\nroute del 203.0.113.0/24 dev lan\n" }
        put(turns.joined() + "route del default\n", at: "\(bench.directory)/batch")
        try network.ip("-batch \(bench.directory)/batch")
        #expect(try bench.becomes(.network, false))
    }

    // MARK: NetworkManager

    private func run(_ bus: PrivateBus) throws { try bus.runMock(of: "networkmanager", as: Self.name) }

    private func setConnectivity(_ bus: PrivateBus, _ level: Int) throws {
        try bus.call(Self.name, Self.path, "\(Self.mock).SetConnectivity", ["uint32:\(level)"])
    }

    private func set(_ bus: PrivateBus, _ property: String, _ value: String) throws {
        // The mock's own way needs the property to be there.
        try bus.call(
            Self.name, Self.path, "org.freedesktop.DBus.Properties.Set",
            ["string:\(Self.name)", "string:\(property)", "variant:\(value)"])
    }

    private func add(_ bus: PrivateBus, _ property: String, _ value: String) throws {
        try bus.call(
            Self.name, Self.path, "\(Self.mock).AddProperty",
            ["string:\(Self.name)", "string:\(property)", "variant:\(value)"])
    }

    @Test(
        "a portal is no network, nor is a connection without the world; what NetworkManager does not know is not asked")
    func connectivity() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        try connect(network, "lan")
        let bus = try PrivateBus()
        try run(bus)
        let bench = try ConditionBench(bus: .address(bus.address))
        bench.open(.network)
        #expect(bench.last(.network) == true, "by the route alone, until it has answered")
        for (level, isTrue) in [(2, false), (4, true), (3, false), (0, true), (3, false), (1, true)] {
            try setConnectivity(bus, level)
            #expect(try bench.becomes(.network, isTrue), "\(level)")
        }
        try network.ip("link set lan-far down")
        #expect(try bench.becomes(.network, false), "full, but no carrier")
    }

    @Test("what NetworkManager said ends with it, counts again when it is back, and as long as it checks")
    func coming() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        try connect(network, "lan")
        let bus = try PrivateBus()
        let bench = try ConditionBench(bus: .address(bus.address))
        bench.open(.network)
        #expect(bench.last(.network) == true)
        try run(bus)
        try setConnectivity(bus, 2)
        #expect(try bench.becomes(.network, false))
        bus.dismissGuests()
        #expect(try bench.becomes(.network, true))
        try run(bus)
        try add(bus, "ConnectivityCheckEnabled", "boolean:true")
        try setConnectivity(bus, 3)
        #expect(try bench.becomes(.network, false))
        try set(bus, "ConnectivityCheckEnabled", "boolean:false")
        #expect(try bench.becomes(.network, true))
        try set(bus, "ConnectivityCheckEnabled", "boolean:true")
        #expect(try bench.becomes(.network, false))
        bus.kill()
        #expect(try bench.becomes(.network, true), "nothing of a bus that is gone holds")
    }

    @Test("what NetworkManager knows or guesses to be metered is; what it does not know is not")
    func metered() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        try connect(network, "lan")
        let bus = try PrivateBus()
        try run(bus)
        try add(bus, "Metered", "uint32:1")
        let bench = try ConditionBench(bus: .address(bus.address))
        bench.open(.unmetered)
        #expect(try bench.becomes(.unmetered, false))
        for (level, isTrue) in [(2, true), (3, false), (4, true), (1, false), (0, true)] {
            try set(bus, "Metered", "uint32:\(level)")
            #expect(try bench.becomes(.unmetered, isTrue), "\(level)")
        }
    }

    @Test("NetworkManager is never started for the question")
    func autostart() throws {
        let network = try OwnNamespace(.network)
        defer { network.leave() }
        let directory = makeDirectory("/tmp/wakebridge-services-XXXXXX")
        defer { Directory.removeTree(directory) }
        let others = ["org.example.Other", "org.example.Last"]
        for name in [Self.name] + others {
            put(
                "[D-BUS Service]\nName=\(name)\nExec=/bin/sh -c \"echo >\(directory)/started-\(name)\"\n",
                at: "\(directory)/\(name).service")
        }
        let bus = try PrivateBus(policy: "", servicesIn: directory)
        let bench = try ConditionBench(bus: .address(bus.address))
        bench.open(.network)
        bench.open(.unmetered)
        // The bus starts what is asked in order, and each program that it starts leaves a file. No program answers.
        let connection = try #require(bench.bus?.connection)
        for other in others {
            connection.call(BusCall(other, "/", other, "Ask", []), within: .seconds(20)) { _ in }
            let file = "\(directory)/started-\(other)"
            #expect(try bench.loop.turn(for: .seconds(30)) { access(file, F_OK) == 0 }, "the bus starts others here")
        }
        #expect(access("\(directory)/started-\(Self.name)", F_OK) != 0)
    }
}
