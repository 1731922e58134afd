// What the kernel, the message bus and the system's files say.
import WakeAgenda
import WakeHCI
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

enum KernelTarget: String, CaseIterable {
    /// Packets of Bluetooth's monitor channel; each begins with its length in two bytes.
    case monitor
    /// Datagrams of rtnetlink, each after its length in two bytes.
    case routes
    /// Datagrams of sock_diag, the same.
    case sockets
    /// What bluetoothd tells of its objects.
    case bus
    /// A file of time zones.
    case zone
}

extension KernelTarget: OutsideReader {
    var files: [String] { self == .zone ? ["/usr/share/zoneinfo/Europe/[BL]*", "/usr/share/zoneinfo/America/S*"] : [] }

    func read(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .monitor: Self.follow(bytes)
        case .routes: Self.listRoutes(bytes)
        case .sockets: Self.listSockets(bytes)
        case .bus: Self.mirror(bytes)
        case .zone: Self.readZone(bytes)
        }
        return true
    }

    private static func datagrams(_ bytes: [UInt8]) -> [[UInt8]] {
        var feed = ByteFeed(bytes)
        var datagrams: [[UInt8]] = []
        while !feed.isEmpty {
            let count = Int(feed.number(bytes: 2))
            datagrams.append(feed.piece(count))
        }
        return datagrams
    }

    private static func follow(_ bytes: [UInt8]) {
        var follower = AirFollower()
        for packet in datagrams(bytes) {
            _ = follower.ingest(packet)
            _ = AdvertisingReport.all(in: packet)
        }
        _ = (follower.addresses, follower.controllers.values.map(\.maker))
    }

    private static func listRoutes(_ bytes: [UInt8]) {
        var listing = RouteListing()
        for datagram in datagrams(bytes) { _ = listing.add(datagram[...]) }
        _ = listing.defaultLinks
    }

    private static func listSockets(_ bytes: [UInt8]) {
        var listing = SocketListing()
        for datagram in datagrams(bytes) { _ = listing.add(datagram[...]) }
        _ = listing.held(among: Set(0..<16))
    }

    private static func mirror(_ bytes: [UInt8]) {
        var feed = BusFeed(bytes)
        var mirror = BluezMirror()
        while !feed.isEmpty {
            switch feed.turn() {
            case .beginning: _ = mirror.begin()
            case .snapshot(let objects): _ = mirror.apply(snapshot: objects)
            case .signal(let signal): _ = mirror.apply(signal)
            }
        }
        for path in mirror.peripherals.keys { _ = mirror.characteristics(of: path) }
        _ = mirror.peripherals.values.map { ($0.hasPrivateAddress, $0.uri, $0.isNamedByPeople) }
    }

    private static func readZone(_ bytes: [UInt8]) {
        guard let zone = try? Zone(tzif: bytes) else { return }
        let day: Int64 = 86_400_000_000
        for turn in -40..<200 {
            let time = WallTime(microseconds: Int64(turn) * 97 * day)
            let civil = zone.civilTime(at: time)
            _ = (zone.offset(at: time), zone.instant(of: civil))
        }
    }
}
