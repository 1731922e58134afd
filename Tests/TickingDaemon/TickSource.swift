// A source that ticks, as the smallest example of a source: the whole of it is this file, and its registration is in main.swift.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

/// Raises a counter every 200 ms, as the data of one device that is always connected.
final class TickSource: RegisteredSource {
    static let kind = SourceKind("tick", uriPrefix: "/tick/", streams: ["tick"])

    private unowned let host: any SourceHost
    private var timer: Timer?
    private var count: UInt8 = 0
    private let uri = kind.uriPrefix + "0001"
    private static let period = TimeSpan.milliseconds(200)

    static func make(for host: any SourceHost, _ resources: SourceResources) throws(SystemError) -> TickSource {
        try TickSource(for: host)
    }

    private init(for host: any SourceHost) throws(SystemError) {
        self.host = host
        timer = try host.loop.timer(on: .monotonic, of: self) { $0.tick() }
    }

    func start() {
        let profile = host.profiles.match(kind: Self.kind, name: "ticker")
        let device = Device(
            uri: uri, alias: "ticker", profile: profile.map { host.profiles.name($0) }, kind: Self.kind)
        host.introduce(device, by: profile)
        host.raise(.connected(folded: 0), of: uri, at: host.clock.stamp())
        tick()
    }

    func stop() { timer?.disarm() }

    func blockingReason(of uri: String) -> String? { count == 0 ? "it has not ticked yet" : nil }

    private func tick() {
        count &+= 1
        host.raise(.data(.stream("tick"), [count]), of: uri, at: host.clock.stamp())
        timer?.arm(at: host.clock.now().monotonic + Self.period)
    }
}
