// The way to the bus: there at once, there later, gone and back, and nothing ticks while it is away.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

/// A place where a bus may be or not, and its listeners.
private final class Waiting {
    let directory: String
    let loop: EventLoop
    let line: SystemBus
    var told: [String] = []
    var address: String { "unix:path=\(directory)/dbus/socket" }

    init() throws {
        directory = try Directory.makeTemporary(prefix: "wakebus")
        loop = try EventLoop()
        line = SystemBus(on: loop, to: .address("unix:path=\(directory)/dbus/socket"))
        line.listen { [unowned self] change in
            switch change {
            case .connected: told.append("connected")
            case .lost: told.append("lost")
            }
        }
    }

    deinit { Directory.removeTree(directory) }

    func makeDirectory() { mkdir(directory + "/dbus", 0o755) }

    func turn(for time: TimeSpan = .seconds(5), until condition: () -> Bool) throws {
        let hasCome = try loop.turn(for: time, until: condition)
        #expect(hasCome)
    }
}

@Suite("Way to the bus")
struct SystemBusTests {
    @Test("a bus that is there is connected to at once, and listeners that come later are told too")
    func present() throws {
        let waiting = try Waiting()
        waiting.makeDirectory()
        let bus = try PrivateBus(at: waiting.address)
        try waiting.line.open()
        #expect(waiting.told == ["connected"])
        var later = 0
        waiting.line.listen { _ in later += 1 }
        #expect(later == 1 && waiting.line.connection != nil)
        bus.kill()
    }

    @Test("after the loss of the bus every listener is told, and told again when it is back")
    func returns() throws {
        let waiting = try Waiting()
        waiting.makeDirectory()
        let bus = try PrivateBus(at: waiting.address)
        try waiting.line.open()
        bus.kill()
        try waiting.turn { waiting.told == ["connected", "lost"] }
        #expect(waiting.line.connection == nil)
        let next = try PrivateBus(at: waiting.address)
        let begun = SystemClock.monotonic()
        try waiting.turn { waiting.told == ["connected", "lost", "connected"] }
        #expect(SystemClock.monotonic() - begun < .seconds(2))
        next.kill()
    }

    @Test("a bus that never was is waited for without a tick, and found when even its directory is new")
    func appears() throws {
        let waiting = try Waiting()
        try waiting.line.open()
        // It looks once more when it has begun to watch.
        #expect(try waiting.loop.runOnce(timeout: .seconds(1)))
        #expect(try waiting.loop.runOnce(timeout: .seconds(1)) == false)
        #expect(waiting.told.isEmpty)
        waiting.makeDirectory()
        let bus = try PrivateBus(at: waiting.address)
        try waiting.turn { waiting.told == ["connected"] }
        bus.kill()
    }

    @Test("a bus that came before its place was watched, and so is not reported, is found")
    func appearsUnseen() throws {
        let waiting = try Waiting()
        let (dead, alive) = (waiting.directory + "/dead", waiting.directory + "/alive")
        let place = waiting.directory + "/dbus"
        for directory in [dead, alive] { mkdir(directory, 0o755) }
        symlink(dead, place)
        try waiting.line.open()
        // The watch is on the dead directory; the bus is in another one.
        let bus = try PrivateBus(at: "unix:path=\(alive)/socket")
        #expect(rename(place, place + ".old") == 0 && symlink(alive, place) == 0)
        try waiting.turn { waiting.told == ["connected"] }
        bus.kill()
    }
}
