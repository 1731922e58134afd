// What a bridge in a kitchen publishes, and what a follower of its stream makes of it.
import WakeModel

@testable import WakeSources

/// Composes lines as the bridge writes them. `published` counts on with each.
struct KitchenBridge {
    var life = "5f0c00000000000a"
    var published: UInt64 = 0

    static let strap = "/bluetooth/C0:F1:F2:F3:F4:01"
    static let start = WallTime(rfc3339: "2026-11-26T20:00:00Z") ?? WallTime(microseconds: 0)

    /// Each event is a second after the one before.
    static func time(_ number: UInt64) -> WallTime { start + .seconds(Int64(number)) }

    private mutating func next() -> UInt64 {
        published += 1
        return published
    }

    mutating func beat(_ bpm: Int, of source: String = strap, alias: String = "chest-strap") -> String {
        let value = #""characteristic":"2a37","value":{"bpm":\#(bpm),"rr_s":[0.832]},"raw":"10\#(hex(bpm))""#
        return event("data", of: source, alias: alias, #""profile":"heart-rate-monitor",\#(value)"#)
    }

    mutating func connect(_ source: String = strap, alias: String = "chest-strap") -> String {
        event("connected", of: source, alias: alias, #""profile":"heart-rate-monitor""#)
    }

    mutating func disconnect(_ reason: String = "timeout") -> String {
        event("disconnected", #""profile":"heart-rate-monitor","reason":"\#(reason)""#)
    }

    mutating func event(
        _ type: String, of source: String = strap, alias: String = "chest-strap", authenticated: Bool = true,
        _ data: String
    ) -> String {
        let number = next()
        return """
            {"specversion":"1.0","id":"j7-\(number)","source":"\(source)","type":"wakebridge.device.\(type)",\
            "subject":"\(alias)","time":"\(Self.time(number).rfc3339)","datacontenttype":"application/json",\
            "authenticated":\(authenticated),"data":{\(data)},"stream":{"life":"\(life)","n":\(number)}}
            """
    }

    mutating func loss(_ count: UInt64) -> String {
        let first = published + 1
        published += count
        return """
            {"gap":{"cause":"overflow","from":\(first),"until":\(published),"since":"\(Self.time(first).rfc3339)",\
            "to":"\(Self.time(published).rfc3339)"},"stream":{"life":"\(life)","n":\(published)}}
            """
    }

    mutating func lose(_ count: UInt64) { published += count }

    private func hex(_ value: Int) -> String { [UInt8(truncatingIfNeeded: value)].hexadecimal }
}

/// A follower that is told of what comes, and writes down what follows, a word for each event.
struct Follower {
    var stream: RemoteStream
    var story: [String] = []
    var introduced: [Device] = []
    private(set) var refusals: [String] = []
    /// As the journal would have it.
    private(set) var position: String?
    var now = KitchenBridge.time(1_000)

    init(at position: String? = nil, isCertain: Bool = true, knowing devices: [Device] = []) {
        let cursor = position.flatMap { StreamCursor(text: $0) }
        stream = RemoteStream(of: "kitchen", from: cursor, isCertain: isCertain, knowing: devices)
        self.position = position
    }

    /// As it is after a restart.
    func restarted(isCertain: Bool = true) -> Follower {
        var devices: [String: Device] = [:]
        for device in introduced { devices[device.uri] = device }
        var next = Follower(at: position, isCertain: isCertain, knowing: Array(devices.values))
        next.introduced = introduced
        return next
    }

    mutating func hear(_ inputs: RemoteStream.Input...) { for input in inputs { hear(input) } }

    mutating func hear(_ lines: [String]) {
        for line in lines {
            do throws(RemoteLineFault) { hear(.line(try RemoteLine(Array(line.utf8)))) } catch {
                refusals.append(error.reason)
            }
        }
    }

    /// Empties the story.
    mutating func removeStory() -> [String] {
        defer { story = [] }
        return story
    }

    private mutating func hear(_ input: RemoteStream.Input) {
        let outcome = stream.step(input, at: now)
        introduced += outcome.introduced
        if let refusal = outcome.refusal { refusals.append(refusal) }
        if let cursor = outcome.cursor { position = cursor.text }
        story += outcome.events.map(Self.word)
    }

    private static func word(_ event: RelayedEvent) -> String {
        switch event.kind {
        case .connected: "+"
        case .disconnected(let reason, _): "-\(reason)"
        case .data(_, let bytes): "\(bytes.last ?? 0)"
        case .gap(let gap): "gap \(gap.cause.rawValue) \(seconds(gap.from))-\(seconds(gap.to))"
        case .attention(let attention, _): "!\(attention.rawValue)"
        case .occasion: "?"
        }
    }

    private static func seconds(_ time: WallTime) -> Int64 {
        (time.microseconds - KitchenBridge.start.microseconds) / 1_000_000
    }
}
