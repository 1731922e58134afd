// Sockets: opened while their handler may run, a reason to wake while it sleeps, kept alive in time, and told of over a restart.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Sockets of handlers")
struct SocketsTests {
    private static let handler = AgendaWorld.handler
    private let sip = AgendaKey(handler, .socket, "sip")

    /// A world whose one socket is open, and whose handler has heard of it and sleeps.
    private func open(_ more: String = "") throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure("{sockets: [{name: 'sip', connect: 'tcp:192.0.2.1:5060'\(more)}]}")
        world.send(.socket(sip, .opened(.inherited)))
        world.acknowledgeEverything()
        return world
    }

    private func wakes(of world: AgendaWorld) -> [Int64] {
        world.raised.filter { $0.occasion.name == "socket.readable" }.map {
            ($0.at - Instant.zero).nanoseconds / 1_000_000_000
        }
    }

    /// The handler wakes, does what it does, acknowledges, and sleeps again; then its socket is looked at.
    private func handle(_ world: inout AgendaWorld, leaving traffic: SocketTraffic) {
        world.send(.situated(Self.handler, .awake))
        world.acknowledgeEverything()
        world.send(.situated(Self.handler, .asleep))
        world.send(.socket(sip, .traffic(traffic)))
    }

    @Test("a socket is opened as soon as its handler may run, and the handler is told under which number it has it")
    func opens() throws {
        var world = AgendaWorld()
        world.set(.mount("/data"), false)
        try world.configure("{sockets: [{name: 'sip', connect: 'tcp:192.0.2.1:5060'}], after: ['mount:/data']}")
        #expect(world.commands.isEmpty, "its gates are closed")
        world.set(.mount("/data"), true)
        world.pass(.seconds(2))
        #expect(world.commands == ["open sip"])
        world.send(.socket(sip, .opened(.inherited)))
        #expect(world.story == [#"socket.opened {"socket":"sip","fd":4}"#])
    }

    @Test("nothing is watched while the handler is awake, and what waits when it goes to sleep wakes it")
    func watches() throws {
        var world = try open()
        #expect(world.commands == ["open sip", "watch sip"])
        world.send(.situated(Self.handler, .awake))
        #expect(world.commands.last == "unwatch sip")
        world.send(.situated(Self.handler, .asleep))
        #expect(world.commands.last == "watch sip")
        world.send(.socket(sip, .traffic(SocketTraffic(unread: 212, taken: 0))))
        #expect(world.story.last == #"socket.readable {"socket":"sip","fd":4,"bytes":212}"#)
    }

    @Test("a handler that reads nothing is woken again after 1, 2, 4 … 60 s, and an operator is told at the third time")
    func fruitless() throws {
        var world = try open()
        let stuck = SocketTraffic(unread: 10, taken: 0)
        world.send(.socket(sip, .traffic(stuck)))
        for _ in 0..<10 {
            handle(&world, leaving: stuck)
            world.pass(.seconds(1))
            while world.heldSequences.isEmpty { world.pass(.seconds(1)) }
        }
        let times = wakes(of: world)
        #expect(zip(times.dropFirst(), times).map { $0 - $1 } == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(world.attentions == ["10 bytes stay unread in three wakes in a row"])
        #expect(world.waits("sip", .socket) == ["unread"] || world.entry("sip", .socket)?.state == .queued)
    }

    @Test("fruitless wakes fall to one a minute although the peer goes on sending", arguments: [true, false])
    func floods(isCounted: Bool) throws {
        var world = try open()
        var volume: Int64 = 10
        for _ in 0..<3_600 {
            volume += 1
            let traffic = SocketTraffic(unread: volume, taken: isCounted ? 0 : nil)
            if world.heldSequences.isEmpty {
                world.send(.socket(sip, .traffic(traffic)))
            } else {
                handle(&world, leaving: traffic)
            }
            world.pass(.seconds(1))
        }
        #expect(wakes(of: world).filter { $0 > 700 }.count <= 50)
        #expect(world.attentions.count == 1)
    }

    @Test("a handler that reads half of what waits is woken a second later for the rest, and never counts as fruitless")
    func half() throws {
        var world = try open()
        var (left, taken): (Int64, Int64) = (1 << 20, 0)
        world.send(.socket(sip, .traffic(SocketTraffic(unread: left, taken: 0))))
        while left > 0 {
            (left, taken) = (left / 2, taken + left - left / 2)
            handle(&world, leaving: SocketTraffic(unread: left, taken: taken))
            world.pass(.seconds(2))
        }
        #expect(wakes(of: world).count == 21)
        #expect(world.attentions.isEmpty)
        world.pass(.seconds(7_200))
        #expect(wakes(of: world).count == 21)
    }

    @Test("what arrives after the handler has read everything wakes it at once")
    func fresh() throws {
        var world = try open()
        world.send(.socket(sip, .traffic(SocketTraffic(unread: 100, taken: 0))))
        handle(&world, leaving: SocketTraffic(unread: 7, taken: 100))
        #expect(world.raised.count == 3)
    }

    @Test("the handler is called to keep its peer before the 600 s are over, hour after hour")
    func keepsAlive() throws {
        var world = try open(", keepalive: '10m'")
        var last = world.moment.boottime
        for _ in 0..<50 {
            let before = world.raised.count
            while world.raised.count == before { world.pass(.seconds(1)) }
            #expect(world.moment.boottime - last < .seconds(600))
            last = world.moment.boottime
            #expect(world.story.last?.hasPrefix(#"socket.keepalive {"socket":"sip","fd":4,"within_s":"#) == true)
            world.acknowledgeEverything()
        }
    }

    @Test(
        "over an hour in which its handler is frozen nothing is done to a connection, and what its peer says then wakes it"
    )
    func frozenForAnHour() throws {
        var world = try open(", keepalive: '10m'")
        let before = world.commands
        for _ in 0..<60 {
            world.pass(.seconds(60))
            world.acknowledgeEverything()
        }
        #expect(world.commands == before, "it is neither closed nor opened again, nor is its peer asked anything")
        world.send(.socket(sip, .traffic(SocketTraffic(unread: 3, taken: 0))))
        #expect(world.story.last == #"socket.readable {"socket":"sip","fd":4,"bytes":3}"#)
    }

    @Test("a keep-alive that the handler orders begins its time again, and goes on over a restart")
    func orderedKeepalive() throws {
        var world = try open()
        #expect(try world.order(#"{"keepalive":{"socket":"sip","within_s":900}}"#).word == "set")
        world.pass(.seconds(500))
        world.restart()
        world.send(.socket(sip, .held(.inherited)))
        world.pass(.seconds(369))
        #expect(world.raised.count == 1)
        world.pass(.seconds(2))
        #expect(world.raised.last?.occasion.name == "socket.keepalive")
    }

    @Test(
        "a connection that the service manager kept is nothing new; one that it did not keep has closed, and is opened again"
    )
    func restarts() throws {
        var world = try open()
        world.restart()
        world.send(.socket(sip, .held(.inherited)))
        world.pass(.seconds(100))
        #expect(world.raised.count == 1)
        world.restart()
        world.send(.socket(sip, .opened(.inherited)))
        world.acknowledgeEverything()
        #expect(
            Array(world.story.dropFirst()) == [
                #"socket.closed {"socket":"sip","reason":"bridge-restart"}"#, #"socket.opened {"socket":"sip","fd":4}"#,
            ])
    }

    @Test("a process that began before its kept connection was found is restarted for it, or is passed it and told so")
    func heldLate() throws {
        for (entrance, restarts, told) in [(SocketEntrance.afterRestart, 1, 1), (.passed, 0, 2), (.inherited, 0, 1)] {
            var world = try open()
            world.restart()
            world.send(.socket(sip, .held(entrance)))
            #expect(world.restarts == restarts && world.raised.count == told)
        }
    }

    @Test("after a reboot nothing has closed: there was no connection in this boot")
    func reboots() throws {
        var world = try open()
        world.reboot(off: .seconds(5))
        world.send(.socket(sip, .opened(.inherited)))
        world.acknowledgeEverything()
        #expect(world.story.map { $0.prefix(13) } == ["socket.opened", "socket.opened"])
    }

    @Test("a peer that closes is told when all that it sent is read, and reached again after 1, 2, 4 … 300 s")
    func closes() throws {
        var world = try open()
        world.send(.socket(sip, .traffic(SocketTraffic(unread: 5, taken: 0, end: .peer))))
        #expect(world.raised.last?.occasion.name == "socket.readable")
        handle(&world, leaving: SocketTraffic(unread: 0, taken: 5, end: .peer))
        #expect(world.story.last == #"socket.closed {"socket":"sip","reason":"peer"}"#)
        world.acknowledgeEverything()
        var pauses: [Int64] = []
        for _ in 0..<10 {
            let (begun, before) = (world.moment.boottime, world.commands.count)
            while world.commands.count == before { world.pass(.seconds(1)) }
            pauses.append((world.moment.boottime - begun).nanoseconds / 1_000_000_000)
            #expect(world.commands.last == "open sip")
            world.send(.socket(sip, .failed(.refused)))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
        #expect(world.raised.count == 3, "what fails again and again is not told again")
        #expect(world.waits("sip", .socket) == ["retry"])
    }

    @Test("a connection of another way is asked whether its peer is there, and given up where it is not")
    func routes() throws {
        var world = try open()
        world.send(.socket(sip, .wayChanged))
        #expect(world.commands.last == "probe sip")
        world.pass(.seconds(13))
        #expect(world.commands.last == "unprobe sip")
        world.send(.socket(sip, .wayChanged))
        world.send(.socket(sip, .traffic(SocketTraffic(unread: 0, taken: 0, end: .reset))))
        #expect(world.story.last == #"socket.closed {"socket":"sip","reason":"route"}"#)
        world.pass(.seconds(1))
        #expect(world.commands.suffix(2) == ["close sip", "open sip"])
    }

    @Test(
        "after the machine slept the peer is asked whether it is there, and a keep-alive that is overdue comes at once")
    func sleeps() throws {
        var world = try open(", keepalive: '10m'")
        world.sleep(.seconds(3_600))
        #expect(world.commands.last == "probe sip")
        #expect(world.raised.last?.occasion.name == "socket.keepalive")
    }

    @Test("a connection that a running process cannot be passed restarts it; one that is passed does not")
    func entrances() throws {
        var world = try open()
        world.send(.situated(Self.handler, .awake))
        _ = try world.order(#"{"reconnect":"sip"}"#)
        #expect(world.commands.suffix(2) == ["close sip", "open sip"])
        world.send(.socket(sip, .opened(.afterRestart)))
        #expect(world.restarts == 1)
        world.acknowledgeEverything()
        _ = try world.order(#"{"reconnect":"sip"}"#)
        world.send(.socket(sip, .opened(.passed)))
        #expect(world.restarts == 1)
        #expect(world.story.last == #"socket.opened {"socket":"sip","passed":true}"#)
    }

    @Test("with a process that encrypts its connection ends; any other connection waits for the next process")
    func orphans() throws {
        for (more, count) in [("", 0), (", tls: true", 1)] {
            var world = try open(more)
            world.send(.socket(sip, .orphaned))
            #expect(world.commands.count { $0 == "close sip" } == count)
        }
    }

    @Test("a stopped handler has no socket, and is told of a new one when it is started")
    func stopped() throws {
        var world = try open()
        world.send(.situated(Self.handler, .stopped))
        #expect(world.commands.last == "close sip")
        #expect(world.waits("sip", .socket) == ["stopped"])
        world.send(.situated(Self.handler, .asleep))
        world.send(.socket(sip, .opened(.inherited)))
        #expect(world.story.last == #"socket.opened {"socket":"sip","fd":4}"#)
    }

    @Test("a handler is launched once all of its sockets were tried, whether they opened or not")
    func tried() throws {
        var world = AgendaWorld()
        try world.configure(
            "{sockets: [{name: 'web', listen: 'tcp:127.0.0.1:8080'}, {name: 'sip', connect: 'tcp:192.0.2.1:5060'}]}")
        world.send(.socket(AgendaKey(Self.handler, .socket, "web"), .opened(.inherited)))
        #expect(world.raised.isEmpty)
        world.send(.socket(sip, .failed(.unreachable)))
        #expect(
            world.story == [
                #"socket.opened {"socket":"web","fd":4}"#, #"socket.closed {"socket":"sip","reason":"unreachable"}"#,
            ])
    }

    @Test("a socket that leads elsewhere is another one, and one that is declared no more is closed")
    func changes() throws {
        var world = try open()
        try world.configure("{sockets: [{name: 'sip', connect: 'tcp:192.0.2.2:5060'}]}")
        #expect(world.commands.suffix(2) == ["close sip", "open sip"])
        try world.configure("{}")
        #expect(world.commands.last == "close sip")
        #expect(world.rows.keys.filter { $0.source == .socket }.isEmpty)
    }

    @Test("whatever happens, every pending socket names what it waits for", arguments: 1...40)
    func alwaysSays(seed: UInt64) throws {
        var dice = Dice(seed)
        var world = try open(", keepalive: '10m'")
        for _ in 0..<200 {
            switch dice.below(9) {
            case 0: world.send(.socket(sip, .opened([.inherited, .passed, .afterRestart][dice.below(3)])))
            case 1: world.send(.socket(sip, .failed(SocketFailure.allCases[dice.below(6)])))
            case 2...3:
                let end: SocketTraffic.End? = dice.isOne(in: 5) ? .peer : nil
                world.send(.socket(sip, .traffic(SocketTraffic(unread: Int64(dice.below(3)), end: end))))
            case 4: world.send(.situated(Self.handler, [.asleep, .awake, .stopped, .attached][dice.below(4)]))
            case 5: world.pass(.seconds(Int64(dice.below(700))))
            case 6: world.restart()
            case 7: world.send(.socket(sip, .wayChanged))
            default: world.acknowledgeEverything()
            }
            let entry = try #require(world.entry("sip", .socket))
            #expect(entry.state != .waiting || !entry.waitsFor.isEmpty)
        }
        #expect(world.attentions.count <= 200)
    }
}

extension AgendaWorld {
    /// What was asked of those who hold sockets, in words.
    var commands: [String] {
        effects.compactMap { effect in
            guard let (key, command) = effect.action(SocketCommand.self) else { return nil }
            let word: String
            switch command {
            case .open: word = "open"
            case .close: word = "close"
            case .watch: word = "watch"
            case .unwatch: word = "unwatch"
            case .look: word = "look"
            case .probe(let isProbed): word = isProbed ? "probe" : "unprobe"
            case .warn: return nil
            }
            return "\(word) \(key.id)"
        }
    }

    var attentions: [String] {
        effects.compactMap {
            if case .warn(let sentence) = $0.action(SocketCommand.self)?.action { sentence } else { nil }
        }
    }

    var restarts: Int { effects.count { if case .restart = $0 { true } else { false } } }

    fileprivate var story: [String] { raised.indices.map { "\(raised[$0].occasion.name) \(payload($0))" } }

    /// What follows an acknowledgement is acknowledged as well.
    fileprivate mutating func acknowledgeEverything() {
        while let sequence = heldSequences.first { conclude(sequence, .acknowledged(nil)) }
    }
}
