// Over which links this machine reaches the rest of the world: the default routes, as rtnetlink lists them.
import CLinux
import Glibc

/// Readable when a link, an address or a route has changed. It does not name it: read the table again.
public struct RouteEvents: ~Copyable {
    private let descriptor: FileDescriptor
    public var raw: Int32 { descriptor.raw }

    public init() throws(SystemError) {
        let answer = attemptC { clinux_route_events() }
        descriptor = FileDescriptor(owning: Int32(try answer.get("listen to", "changes of routes")))
    }

    /// Drops the reports so far.
    public borrowing func discard() throws(SystemError) {
        let number = raw
        _ = try attemptC { clinux_route_events_discard(number) }.get("read", "changes of routes")
    }
}

public struct DefaultRoutes: Hashable, Sendable {
    /// The names of the links with carrier that a default route of the main table leads over.
    public private(set) var defaultLinks: Set<String> = []

    /// Lists of a network that changes meanwhile are read again, this often.
    private static let mostAttempts = 8

    public init() {}

    /// The present routes. It asks the kernel, and waits for nothing.
    public static func read() throws(SystemError) -> DefaultRoutes {
        for _ in 1..<mostAttempts {
            if let table = try readOnce() { return table }
        }
        throw SystemError("list", "the routes", Errno(code: EAGAIN))
    }

    /// Nil where it changed meanwhile.
    private static func readOnce() throws(SystemError) -> DefaultRoutes? {
        var listing = RouteListing()
        let answer = attemptC { clinux_route_socket() }
        let socket = FileDescriptor(owning: Int32(try answer.get("open", "a socket for routes")))
        for list in [CLINUX_LINKS, CLINUX_ROUTES] {
            let number = socket.raw
            _ = try attemptC { clinux_route_request(number, list) }.get("list", "the routes")
            var datagram = [UInt8](repeating: 0, count: 64 << 10)
            var progress = RouteListing.Progress.more
            while progress == .more {
                guard case .bytes(let count) = try socket.read(into: &datagram) else {
                    throw SystemError("list", "the routes", .wouldBlock)
                }
                progress = listing.add(datagram[..<count])
            }
            if progress == .spoilt { return nil }
        }
        return DefaultRoutes(defaultLinks: listing.defaultLinks)
    }

    init(defaultLinks: Set<String>) { self.defaultLinks = defaultLinks }

    /// Whether a default route leads over a link whose name matches one of the patterns, such as `wwan*`.
    public func leads(over patterns: [String]) -> Bool {
        defaultLinks.contains { link in patterns.contains { fnmatch($0, link, 0) == 0 } }
    }
}

/// Gathers the datagrams of both lists (rtnetlink(7)).
package struct RouteListing {
    package enum Progress: Hashable {
        case more
        case complete
        /// Refused, or something changed while it was listed.
        case spoilt
    }

    private var carriers: [UInt64: String] = [:]
    private var defaults: Set<UInt64> = []

    package init() {}

    package var defaultLinks: Set<String> { Set(defaults.compactMap { carriers[$0] }) }

    /// Reads one datagram: messages of a length, a type and flags, each aligned to four bytes.
    package mutating func add(_ datagram: ArraySlice<UInt8>) -> Progress {
        var rest = datagram
        var isSpoilt = false
        while rest.count >= 16 {
            let length = Int(rest.littleEndian(at: 0, size: 4))
            guard length >= 16, length <= rest.count else { return .spoilt }
            isSpoilt = isSpoilt || rest.littleEndian(at: 6, size: 2) & Self.wasInterrupted != 0
            let body = rest.prefix(length).dropFirst(16)
            switch rest.littleEndian(at: 4, size: 2) {
            case 2: return .spoilt
            case 3: return isSpoilt ? .spoilt : .complete
            case 16: addLink(body)
            case 24: addRoute(body)
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return isSpoilt ? .spoilt : .more
    }

    private static let wasInterrupted: UInt64 = 0x10
    /// IFF_UP, IFF_RUNNING and IFF_LOWER_UP: it is on, has its carrier, and may be used.
    private static let carries: UInt64 = 0x1_0041

    /// An `ifinfomsg`: its index at 4, its flags at 8; the name is attribute 3.
    private mutating func addLink(_ body: ArraySlice<UInt8>) {
        guard body.count >= 16, body.littleEndian(at: 8, size: 4) & Self.carries == Self.carries,
            let name = body.dropFirst(16).netlinkAttributes[3]
        else { return }
        carriers[body.littleEndian(at: 4, size: 4)] = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// An `rtmsg`: the family at 0, the length of its prefix at 1, the type at 7, flags at 8.
    private mutating func addRoute(_ body: ArraySlice<UInt8>) {
        guard body.count >= 12, [2, 10].contains(body.littleEndian(at: 0, size: 1)),
            body.littleEndian(at: 1, size: 1) == 0, body.littleEndian(at: 7, size: 1) == Self.unicast,
            body.littleEndian(at: 8, size: 4) & Self.isCopy == 0
        else { return }
        let attributes = body.dropFirst(12).netlinkAttributes
        let table = attributes[15].map { $0.littleEndian(at: 0, size: 4) } ?? body.littleEndian(at: 4, size: 1)
        guard table == Self.mainTable else { return }
        if let link = attributes[4] { defaults.insert(link.littleEndian(at: 0, size: 4)) }
        if let hops = attributes[9] { defaults.formUnion(Self.links(of: hops)) }
    }

    private static let unicast: UInt64 = 1
    private static let isCopy: UInt64 = 0x200
    private static let mainTable: UInt64 = 254

    /// The links of a route over several: a length at 0, the link's index at 4.
    private static func links(of hops: ArraySlice<UInt8>) -> [UInt64] {
        var links: [UInt64] = []
        var rest = hops
        while rest.count >= 8 {
            let length = Int(rest.littleEndian(at: 0, size: 2))
            guard length >= 8, length <= rest.count else { break }
            links.append(rest.littleEndian(at: 4, size: 4))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return links
    }
}
