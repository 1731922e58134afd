// The latest log lines of handlers, bounded, and who follows them.
import WakeControl
import WakeLoop
import WakeModel
import WakeSystem

/// Every line goes to the bridge's own log as well, rate-limited a handler, so that a chatty one costs the others nothing.
final class HandlerLogBook: HandlerLog {
    private struct Page {
        var lines: [[UInt8]] = []
        var limit: RateLimiter
    }

    private let catalog: Catalog
    private let clock: any WakeClock
    private let linesPerSecond: Int
    private let burst: Int
    private var pages: [HandlerID: Page] = [:]
    private var followers: [(handler: HandlerID?, stream: ControlStream)] = []
    private let log = Log("handler")

    private static let linesKept = 200

    init(catalog: Catalog, clock: any WakeClock, settings: BridgeSettings.LogLimit) {
        self.catalog = catalog
        self.clock = clock
        linesPerSecond = settings.linesPerSecond
        burst = settings.burst
    }

    func handler(_ id: HandlerID, logged line: String) {
        let stamp = clock.stamp()
        var page =
            pages[id] ?? Page(limit: RateLimiter(perSecond: linesPerSecond, burst: burst, now: stamp.moment.monotonic))
        defer { pages[id] = page }
        guard page.limit.take(now: stamp.moment.monotonic) else { return }
        let name = catalog.name(of: id)
        let dropped = page.limit.drainRefused()
        if dropped > 0 { log.warning("\(name): \(dropped) log lines over the limit of \(linesPerSecond) a second are dropped") }
        log.info("\(name): \(line)")
        let written = Self.write(line, of: name, at: stamp.wall)
        page.lines.append(written)
        if page.lines.count > Self.linesKept { page.lines.removeFirst() }
        for follower in followers where follower.handler.map({ $0 == id }) ?? true { follower.stream.send(written) }
    }

    /// Sends the latest `count` lines of one handler or of all, and goes on with new ones where asked.
    func tell(_ handler: HandlerID?, count: Int, follows: Bool, to stream: ControlStream) {
        let chosen = handler.map { [$0] } ?? pages.keys.sorted()
        for line in chosen.flatMap({ pages[$0]?.lines ?? [] }).suffix(count) { stream.send(line) }
        guard follows else { return stream.close() }
        follow(handler, stream)
    }

    func follow(_ handler: HandlerID?, _ stream: ControlStream) {
        followers.append((handler, stream))
    }

    func forget(_ stream: ControlStream) { followers.removeAll { $0.stream === stream } }

    private static func write(_ line: String, of name: String, at time: WallTime) -> [UInt8] {
        var writer = JSONWriter(reserving: 128)
        writer.beginObject()
        writer.key("time")
        writer.time(time)
        writer.field("handler", name)
        writer.field("text", line)
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}
