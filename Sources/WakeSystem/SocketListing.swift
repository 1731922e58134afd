// The sockets by which others may call a process: those that it listens at, and its connections to a message bus.
import CLinux
import Glibc

/// While its holder is frozen, a client that calls by it gets no answer.
public enum ReachableSocket: Hashable, Sendable {
    /// `tcp 0.0.0.0:8080`, `unix /run/h.sock`.
    case listening(String)
    /// Connected to the bus with this name.
    case bus(String)

    /// Descriptors of all processes together; the rest is not examined.
    private static let mostLooked = 16_384

    /// The sockets of the members that this process does not hold as well, in the order of their words. Asks the kernel
    /// for all sockets of the machine, which may take some milliseconds: only on a thread.
    public static func held(by members: Members) throws(SystemError) -> [ReachableSocket] {
        var left = mostLooked
        var inodes: Set<UInt32> = []
        for pid in members.processes { inodes.formUnion(Self.inodes(of: "\(pid)", &left)) }
        if inodes.isEmpty { return [] }
        // The bridge itself answers for sockets that it holds beside the process.
        left = mostLooked
        inodes.subtract(Self.inodes(of: "self", &left))
        return inodes.isEmpty ? [] : try list().held(among: inodes)
    }

    /// A process or a descriptor may vanish at any moment.
    private static func inodes(of process: String, _ left: inout Int) -> [UInt32] {
        let folder = "/proc/\(process)/fd"
        let names = ((try? Directory.names(in: folder)) ?? []).prefix(left)
        left -= names.count
        return names.compactMap { inode(of: (try? File.linkTarget(of: "\(folder)/\($0)")) ?? "") }
    }

    /// Reads `socket:[4711]`.
    static func inode(of target: String) -> UInt32? {
        let mark = "socket:["
        guard target.hasPrefix(mark), target.hasSuffix("]") else { return nil }
        return UInt32(target.dropFirst(mark.count).dropLast())
    }

    private static func list() throws(SystemError) -> SocketListing {
        var listing = SocketListing()
        let answer = attemptC { clinux_socket_diag() }
        let socket = FileDescriptor(owning: Int32(try answer.get("open", "a socket for the list of sockets")))
        for list in [CLINUX_TCP_LISTENERS, CLINUX_TCP6_LISTENERS, CLINUX_UNIX_SOCKETS] {
            let number = socket.raw
            _ = try attemptC { clinux_socket_diag_request(number, list) }.get("list", "the sockets")
            var datagram = [UInt8](repeating: 0, count: 64 << 10)
            var progress = SocketListing.Progress.more
            while progress == .more {
                guard case .bytes(let count) = try socket.read(into: &datagram) else {
                    throw SystemError("list", "the sockets", .wouldBlock)
                }
                progress = listing.add(datagram[..<count])
            }
            // A machine without IPv6 has no such list.
            if case .refused(let errno) = progress, list != CLINUX_TCP6_LISTENERS {
                throw SystemError("list", "the sockets", errno)
            }
        }
        return listing
    }
}

/// Gathers the datagrams of the lists (sock_diag(7)).
package struct SocketListing {
    package enum Progress: Hashable {
        case more
        case complete
        case refused(Errno)
    }

    /// By inode: the address at which it listens.
    private var listening: [UInt32: String] = [:]
    /// By inode: the inode of the other end.
    private var peers: [UInt32: UInt32] = [:]
    /// By inode. A socket that was accepted has the name of the one that listened.
    private var names: [UInt32: String] = [:]

    package init() {}

    package func held(among inodes: Set<UInt32>) -> [ReachableSocket] {
        let ends = inodes.compactMap { listening[$0] }.map(ReachableSocket.listening)
        let buses = inodes.compactMap { peers[$0] }.compactMap { names[$0] }.filter(Self.isBus).map(ReachableSocket.bus)
        return Set(ends).sorted { $0.words < $1.words } + Set(buses).sorted { $0.words < $1.words }
    }

    /// `/run/dbus/system_bus_socket`, `/run/user/1000/bus`, `@/tmp/dbus-x7`.
    static func isBus(_ name: String) -> Bool {
        let last = name.split(separator: "/").last ?? ""
        return last == "system_bus_socket" || last == "bus" || last.hasPrefix("dbus-")
    }

    private static let byFamily: UInt64 = 20
    private static let established: UInt64 = 1
    private static let listens: UInt64 = 10

    /// Reads one datagram: messages of a length, a type and flags, each aligned to four bytes.
    package mutating func add(_ datagram: ArraySlice<UInt8>) -> Progress {
        var rest = datagram
        while rest.count >= 16 {
            let length = Int(rest.littleEndian(at: 0, size: 4))
            guard length >= 16, length <= rest.count else { return .refused(Errno(code: EBADMSG)) }
            let body = rest.prefix(length).dropFirst(16)
            switch rest.littleEndian(at: 4, size: 2) {
            case 2: return .refused(Self.error(in: body))
            case 3: return .complete
            case Self.byFamily: addSocket(body)
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return .more
    }

    private static func error(in body: ArraySlice<UInt8>) -> Errno {
        guard body.count >= 4 else { return Errno(code: EBADMSG) }
        let number = Int32(truncatingIfNeeded: body.littleEndian(at: 0, size: 4))
        return Errno(code: number < 0 && number > -4_096 ? -number : EBADMSG)
    }

    private mutating func addSocket(_ body: ArraySlice<UInt8>) {
        switch body.first.map(Int32.init) {
        case AF_INET: addNetwork(body, width: 4)
        case AF_INET6: addNetwork(body, width: 16)
        case AF_UNIX: addLocal(body)
        default: return
        }
    }

    /// An `inet_diag_msg`: its state at 1, its own port at 4 and address at 8, its inode at 68.
    private mutating func addNetwork(_ body: ArraySlice<UInt8>, width: Int) {
        guard body.count >= 72, body.littleEndian(at: 1, size: 1) == Self.listens else { return }
        let start = body.startIndex
        let port = UInt16(body[start + 4]) << 8 | UInt16(body[start + 5])
        let address = NetworkAddress(bytes: Array(body[(start + 8)..<(start + 8 + width)]), port: port)
        listening[UInt32(truncatingIfNeeded: body.littleEndian(at: 68, size: 4))] = "tcp \(address)"
    }

    /// A `unix_diag_msg`: its state at 2, its inode at 4; attribute 0 is its name, 2 its peer's inode.
    private mutating func addLocal(_ body: ArraySlice<UInt8>) {
        guard body.count >= 16 else { return }
        let inode = UInt32(truncatingIfNeeded: body.littleEndian(at: 4, size: 4))
        let attributes = body.dropFirst(16).netlinkAttributes
        let name = attributes[0].flatMap(Self.name)
        switch body.littleEndian(at: 2, size: 1) {
        case Self.listens: listening[inode] = "unix \(name ?? "without a name")"
        case Self.established:
            names[inode] = name
            peers[inode] = attributes[2].flatMap { peer in
                peer.count >= 4 ? UInt32(truncatingIfNeeded: peer.littleEndian(at: 0, size: 4)) : nil
            }
        default: return
        }
    }

    /// A path ends at its first zero byte; an abstract name begins with one.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first else { return nil }
        if first == 0 { return "@" + String(decoding: bytes.dropFirst().map { $0 == 0 ? 0x2e : $0 }, as: UTF8.self) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension ReachableSocket {
    /// The words in a sentence: a listening socket, and its address; a bus.
    public var words: String {
        switch self {
        case .listening(let place): "a listening socket (\(place))"
        case .bus(let name): "a connection to the message bus \(name)"
        }
    }
}
