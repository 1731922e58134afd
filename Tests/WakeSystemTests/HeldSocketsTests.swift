// What a process can be called by: its listening sockets and its connections to a bus, found in the kernel's lists.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("Sockets that a process holds", .serialized)
struct HeldSocketsTests {
    /// What a program holds that `script` begins, once it has printed a line.
    private func held(_ script: String) throws -> [ReachableSocket] {
        let whole = script + "\nprint('there')\nimport time\ntime.sleep(60)"
        let child = try Child(["/usr/bin/python3", "-u", "-c", whole])
        #expect(eventually(within: .seconds(60)) { child.output == "there\n" }, "\(child.talk)")
        return try ReachableSocket.held(by: Members(processes: [child.process]))
    }

    @Test("a process that listens at TCP and at a Unix socket is found with both places")
    func listening() throws {
        let folder = makeDirectory("/tmp/wakebridge-held-XXXXXX")
        defer { Directory.removeTree(folder) }
        let found = try held(
            """
            import socket
            one = socket.create_server(("127.0.0.1", 0))
            six = socket.create_server(("::1", 0), family=socket.AF_INET6)
            two = socket.socket(socket.AF_UNIX)
            two.bind("\(folder)/h.sock")
            two.listen()
            three = socket.socket(socket.AF_UNIX)
            three.bind("\\0wakebridge-test-\(getpid())")
            three.listen()
            """)
        let places = found.map(\.words)
        #expect(places.contains("a listening socket (unix \(folder)/h.sock)"), "\(places)")
        #expect(places.contains("a listening socket (unix @wakebridge-test-\(getpid()))"), "\(places)")
        #expect(places.contains { $0.hasPrefix("a listening socket (tcp 127.0.0.1:") }, "\(places)")
        #expect(places.contains { $0.hasPrefix("a listening socket (tcp [::1]:") } && places.count == 4, "\(places)")
    }

    @Test("a process that is connected to a message bus is found with the bus")
    func bus() throws {
        let bus = try PrivateBus()
        let path = bus.address.split(separator: ",")[0].split(separator: "=")[1]
        let found = try held(
            """
            import socket
            one = socket.socket(socket.AF_UNIX)
            one.connect("\(path)")
            one.send(b"\\0AUTH ANONYMOUS\\r\\n")
            one.recv(1)  # The bus has accepted the connection.
            """)
        #expect(found == [.bus(String(path))])
    }

    @Test("connections, sockets that are not open to others, and files are nothing to tell of")
    func others() throws {
        #expect(
            try held("import os, socket\none = socket.socketpair()\ntwo = open('/etc/passwd')\nend = os.pipe()") == [])
        #expect(try held("import socket\none = socket.socket()\ntwo = socket.socket(type=socket.SOCK_DGRAM)") == [])
        let mine = try held(
            """
            import socket
            one = socket.create_server(("127.0.0.1", 0))
            two = socket.create_connection(one.getsockname())
            one.close()
            """)
        #expect(mine == [])
    }

    @Test("a socket that this process holds too is its own to answer for")
    func shared() throws {
        let listener = try NetworkSocket.listen(at: .anyPort)
        let members = Members(processes: [getpid()])
        #expect(try ReachableSocket.held(by: members) == [])
        _ = listener
    }

    @Test("a process that is gone holds nothing")
    func gone() throws { #expect(try ReachableSocket.held(by: Members(processes: [Int32.max - 1])) == []) }

    @Test(
        "only a link of the kernel's own form is a socket",
        arguments: [
            "", "socket:[", "socket:[]", "socket:[x]", "socket:[-1]", "socket:[1", "socket:[99999999999]", "pipe:[7]",
            "/tmp/socket:[7]", "socket:[7] (deleted)", "anon_inode:[eventpoll]",
        ])
    func links(target: String) { #expect(ReachableSocket.inode(of: target) == nil) }

    @Test("names of buses are told from other sockets")
    func buses() {
        let names = ["/run/dbus/system_bus_socket", "/run/user/1000/bus", "@/tmp/dbus-x7", "/tmp/dbus-abc"]
        #expect(names.allSatisfy(SocketListing.isBus))
        let others = ["", "/", "/run/omnibus", "/run/bus/x", "/tmp/x-dbus-1", "@bus.d"]
        #expect(!others.contains(where: SocketListing.isBus))
    }
}

@Suite("Unix sockets in a user's name", .enabled(if: geteuid() == 0, "only root can act for other users"))
struct UserSocketsTests {
    private let folder = makeDirectory("/tmp/wakebridge-user-XXXXXX")
    private let account: Account
    /// Belongs to the user.
    private let own: String

    init() throws {
        account = try Account(named: "nobody").joining(["tty"])
        own = "\(folder)/own"
        try Directory.create(own, mode: 0o755)
        try File.setOwner(of: own, to: account)
    }

    /// What the other end of a connection sees of its client.
    private func client(_ listener: borrowing FileDescriptor) throws -> PeerCredentials? {
        guard let accepted = try UnixSocket.accept(on: listener) else { return nil }
        return try PeerCredentials(of: accepted.raw)
    }

    @Test("a program that is connected to in a user's name sees that user")
    func connecting() throws {
        defer { Directory.removeTree(folder) }
        let listener = try UnixSocket.listen(at: "\(folder)/door", mode: 0o666)
        let one = try UnixSocket.connect(to: "\(folder)/door", as: account)
        let seen = try client(listener)
        #expect(seen == PeerCredentials(pid: getpid(), user: account.user, group: account.group), "\(one.raw)")
        let two = try UnixSocket.connect(to: "\(folder)/door", as: nil)
        let mine = try client(listener)
        #expect(mine == PeerCredentials(pid: getpid(), user: 0, group: getegid()), "\(two.raw): root is root as before")
        #expect(chmod("\(folder)/door", 0o600) == 0)
        let error = refusal { () throws(SystemError) in
            _ = try UnixSocket.connect(to: "\(folder)/door", as: account)
        }
        #expect(error?.errno == .denied)
        #expect(error?.description.hasPrefix("could not connect to \(folder)/door as user nobody: ") == true)
    }

    @Test("a socket that listens in a user's name belongs to that user, and those who connect see that user")
    func listening() throws {
        defer { Directory.removeTree(folder) }
        let path = "\(own)/door"
        do {
            let first = try UnixSocket.listen(at: path, mode: 0o660, as: account)
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
            #expect(status.st_uid == account.user && status.st_gid == account.group)
            let client = try UnixSocket.connect(to: path)
            #expect(try PeerCredentials(of: client.raw).user == account.user)
            let other = refusal { () throws(SystemError) in
                _ = try UnixSocket.listen(at: path, mode: 0o660, as: account)
            }
            #expect(other?.errno == .addressInUse, "\(first.raw)")
        }
        let second = try UnixSocket.listen(at: path, mode: 0o660, as: account)
        try UnixSocket.remove(path, as: account)
        #expect(!File.exists(path), "\(second.raw)")
    }

    @Test("a user's socket is made only where that user may write")
    func refused() throws {
        defer { Directory.removeTree(folder) }
        let path = "\(folder)/door"
        let error = refusal { () throws(SystemError) in
            _ = try UnixSocket.listen(at: path, mode: 0o660, as: account)
        }
        #expect(error?.errno == .denied && !File.exists(path))
        #expect(
            error?.description
                == "could not listen at \(path) as user nobody: Permission denied (EACCES); name a path in a folder that this user may write to"
        )
        try File.replace("\(own)/door", with: [1])
        let file = refusal { () throws(SystemError) in
            _ = try UnixSocket.listen(at: "\(own)/door", mode: 0o660, as: account)
        }
        #expect(file?.errno == .exists)
        #expect(try File.bytes(at: "\(own)/door") == [1])
    }

    @Test("a link in a user's folder leads to no socket of another user")
    func link() throws {
        defer { Directory.removeTree(folder) }
        try Directory.create("\(folder)/roots", mode: 0o755)
        #expect(symlink("\(folder)/roots", "\(own)/elsewhere") == 0)
        let path = "\(own)/elsewhere/door"
        _ = try UnixSocket.listen(at: path, mode: 0o600)
        let made = refusal { () throws(SystemError) in
            _ = try UnixSocket.listen(at: path, mode: 0o660, as: account)
        }
        let removed = refusal { () throws(SystemError) in try UnixSocket.remove(path, as: account) }
        #expect(made?.errno == .denied && removed?.errno == .denied)
        #expect(File.owner(of: path) == 0 && File.mode(of: path) == 0o600)
    }

    private func refusal(_ call: () throws(SystemError) -> Void) -> SystemError? {
        do throws(SystemError) { try call() } catch { return error }
        return nil
    }
}

@Suite("Lists of sockets that are spoilt")
struct SocketListingTests {
    private func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [UInt8(16 + body.count), 0, 0, 0, type, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + body
    }

    /// TCP at 127.0.0.1:8080, inode 7.
    private var network: [UInt8] {
        var body = [UInt8](repeating: 0, count: 72)
        (body[0], body[1], body[4], body[5]) = (UInt8(AF_INET), 10, 0x1f, 0x90)
        (body[8], body[11], body[68]) = (127, 1, 7)
        return body
    }

    /// A connected end with this inode, its peer, and a name.
    private func local(_ inode: UInt8, peer: UInt8, _ name: String = "") -> [UInt8] {
        let named: [UInt8] = name.isEmpty ? [] : [UInt8(4 + name.utf8.count), 0, 0, 0] + Array(name.utf8)
        let padded = named + [UInt8](repeating: 0, count: (4 - named.count % 4) % 4)
        return [UInt8(AF_UNIX), 1, 1, 0, inode, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + padded
            + [8, 0, 2, 0, peer, 0, 0, 0]
    }

    @Test("a list gives what listens, and which bus the other end of a connection is")
    func whole() {
        var listing = SocketListing()
        let name = "/run/dbus/system_bus_socket"
        let ends = message(20, local(8, peer: 9)) + message(20, local(9, peer: 8, name))
        #expect(listing.add((message(20, network) + ends)[...]) == .more)
        #expect(listing.add(message(3, [0, 0, 0, 0])[...]) == .complete)
        #expect(listing.held(among: [7, 8]) == [.listening("tcp 127.0.0.1:8080"), .bus(name)])
        #expect(listing.held(among: [9]) == [], "the bus's own end is no connection to a bus")
    }

    @Test("no datagram that is cut short, says wrong lengths or has any byte changed does harm")
    func cut() {
        let whole = message(20, network) + message(20, local(8, peer: 9, "/run/user/1/bus"))
        for count in whole.indices {
            var listing = SocketListing()
            _ = listing.add(whole.prefix(count))
            #expect(listing.held(among: [8]) == [])
        }
        for place in whole.indices {
            for value in [UInt8(0), 1, 0x7f, 0xff] {
                var spoilt = whole
                spoilt[place] = value
                var listing = SocketListing()
                _ = listing.add(spoilt[...])
                _ = listing.held(among: Set(0...300))
            }
        }
    }

    @Test(
        "a refusal of the kernel is its own error, and what is no message is a bad one",
        arguments: [
            ([UInt8](arrayLiteral: 0xfe, 0xff, 0xff, 0xff), ENOENT), ([0, 0, 0, 0], EBADMSG), ([], EBADMSG),
            ([1], EBADMSG),
            ([0, 0, 0, 0x80], EBADMSG),
        ])
    func refusals(body: [UInt8], code: Int32) {
        var listing = SocketListing()
        #expect(listing.add(message(2, body)[...]) == .refused(Errno(code: code)))
    }
}
