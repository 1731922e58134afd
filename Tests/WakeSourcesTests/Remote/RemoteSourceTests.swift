// The source of other bridges' devices: what a feed brings is relayed to the host, and acknowledged after its turn.
import Glibc
import Testing
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeSources

@Suite("The source of other bridges' devices")
final class RemoteSourceTests {
    private let host: RelayHost
    private let feed = ScriptedFeed()
    private let source: RemoteSource
    private var kitchen = KitchenBridge()

    init() throws {
        host = try RelayHost()
        source = try Self.source(of: feed, for: host)
    }

    private static func source(of feed: ScriptedFeed, for host: RelayHost) throws -> RemoteSource {
        let bridge = RemoteBridge(name: "kitchen", stream: "wakebridge/kitchen", broker: "mqtt://hub:1883", feed: feed)
        return try RemoteSource.make(
            for: host,
            SourceResources(
                bus: SystemBus(on: host.loop), bluez: nil, stateDirectory: "/nonexistent", remotes: [bridge]))
    }

    private func bring(_ news: RemoteNews...) throws {
        feed.waiting += news
        while feed.isReadable { _ = try host.loop.runOnce(timeout: .seconds(1)) }
    }

    private func line(_ text: String) -> RemoteNews { .line(Array(text.utf8)) }

    @Test("a line is acknowledged when the turn that keeps it has ended, and not before")
    func acknowledges() throws {
        try source.start()
        try bring(.reached, line(kitchen.beat(61)))
        #expect(host.relayed.map(\.count) == [2] && feed.acknowledged == 0)
        source.turnEnded()
        #expect(feed.acknowledged == 1)
        source.turnEnded()
        #expect(feed.acknowledged == 1)
    }

    @Test("what brings nothing is acknowledged at once: a line that is known, and one that cannot be read")
    func acknowledgesAtOnce() throws {
        try source.start()
        let first = line(kitchen.beat(61))
        try bring(first)
        source.turnEnded()
        try bring(first, line("spoilt"), line(#"{"stream":{"life":"a","n":-1}}"#))
        #expect(feed.acknowledged == 4 && host.relayed.count == 1)
    }

    @Test("the cursor comes with the events that it covers, and the next start goes on from it")
    func goesOn() throws {
        try source.start()
        let lines = (60...63).map { line(kitchen.beat($0)) }
        for line in lines[..<2] {
            try bring(line)
            source.turnEnded()
        }
        source.stop()
        #expect(feed.isClosed)
        let position = try #require(host.positions["wakebridge/kitchen"])
        #expect(StreamCursor(text: position)?.number == 2)

        let again = ScriptedFeed()
        let next = try Self.source(of: again, for: host)
        let before = host.introduced.count
        try next.start()
        #expect(host.introduced.count == before + 1, "what was known is introduced before it speaks")
        for line in lines {
            again.waiting.append(line)
            while again.isReadable { _ = try host.loop.runOnce(timeout: .seconds(1)) }
            next.turnEnded()
        }
        #expect(again.acknowledged == 4)
        #expect(host.relayed.map { $0.count } == [2, 1, 2, 1], "connected is raised again, and each value once")
    }

    @Test("a device comes with the profile that has its name here, and with the name alone where none has")
    func profiles() throws {
        try source.start()
        try bring(line(kitchen.beat(61)))
        #expect(host.introduced.first?.profile == "heart-rate-monitor")
        let why = source.blockingReason(of: "/remote/attic/bluetooth/1")
        #expect(why?.contains("not in remote of the settings") == true)
        #expect(source.blockingReason(of: "/remote/kitchen" + KitchenBridge.strap) == nil)
    }

    @Test("a flood of news is read in pieces, so that one turn of the loop comes to everything else as well")
    func readsInPieces() throws {
        try source.start()
        feed.waiting = Array(repeating: .other, count: 1_000)
        _ = try host.loop.runOnce(timeout: .seconds(1))
        #expect((900..<1_000).contains(feed.waiting.count))
        try bring()
        #expect(feed.waiting.isEmpty)
    }

    @Test("a device that its bridge has forgotten ends its link, and is forgotten here")
    func forgets() throws {
        try source.start()
        try bring(line(kitchen.beat(61)))
        source.turnEnded()
        try bring(.described(alias: "other", []), .described(alias: "chest-strap", []))
        #expect(host.forgotten == ["/remote/kitchen" + KitchenBridge.strap])
        #expect(host.relayed.last?.map(\.kind) == [.disconnected(reason: "forgotten", folded: 0)])
        try bring(.described(alias: "chest-strap", []))
        #expect(host.forgotten.count == 1)
    }

    @Test("a flood of lines that cannot be read is logged once a minute, with their number")
    func refusals() {
        var count = SparseReport()
        let start = Instant(nanoseconds: 0)
        #expect(count.count(at: start) == 0)
        for _ in 0..<500 { #expect(count.count(at: start + .seconds(59)) == nil) }
        #expect(count.count(at: start + .seconds(60)) == 500)
    }
}

/// Brings what a test puts into it.
private final class ScriptedFeed: RemoteFeed {
    var waiting: [RemoteNews] = [] { didSet { signal() } }
    private(set) var acknowledged = 0
    private(set) var isClosed = false
    /// A line was handed out and is not acknowledged.
    private var isHeld = false
    private let ends: [Int32]
    /// A byte stands in the pipe.
    private var isSignalled = false
    var descriptor: Int32 { ends[0] }

    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        self.ends = ends
    }

    deinit { for end in ends { Glibc.close(end) } }

    var isReadable: Bool { !isHeld && !waiting.isEmpty }

    private func signal() {
        guard isSignalled != isReadable else { return }
        var byte: UInt8 = 1
        _ = isReadable ? write(ends[1], &byte, 1) : read(ends[0], &byte, 1)
        isSignalled = isReadable
    }

    func open() {}
    func close() { isClosed = true }

    func next() -> RemoteNews? {
        guard isReadable else { return nil }
        let news = waiting.removeFirst()
        if case .line = news { isHeld = true }
        signal()
        return news
    }

    func acknowledgeLine() {
        acknowledged += 1
        isHeld = false
        signal()
    }
}

/// Keeps what is relayed to it.
private final class RelayHost: SourceHost {
    let loop: EventLoop
    let clock: any WakeClock = RealClock()
    private(set) var relayed: [[RelayedEvent]] = []
    private(set) var introduced: [Device] = []
    private(set) var positions: [String: String] = [:]
    private(set) var forgotten: [String] = []

    init() throws { loop = try EventLoop() }

    func position(ofStream stream: String) -> StreamPosition? {
        positions[stream].map { StreamPosition(text: $0, isCertain: true) }
    }
    func relay(_ events: [RelayedEvent], of stream: String, followedTo position: String?) {
        relayed.append(events)
        if let position { positions[stream] = position }
    }
    func introduce(_ device: Device, by profile: ProfileIndex?) { introduced.append(device) }
    var knownDevices: [Device] { introduced }
    func knownDevice(at uri: String) -> Device? { introduced.last { $0.uri == uri } }

    var profiles: ProfileLibrary { ProfileLibrary() }
    func session(of uri: String) -> LinkSession { .open }
    func awaitsTrust(_ uri: String) -> Bool { false }
    func listening(to uri: String) -> Listening? { nil }
    func isWanted(_ uri: String) -> Bool { false }
    func isWatched(_ profile: String) -> Bool { true }
    func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {}
    func record(_ listening: Listening, of uri: String) {}
    func settleSession(of uri: String) {}
    func forget(_ uri: String) { forgotten.append(uri) }
    func announce(_ notice: Notice) {}
    func requestTurn() {}
}
