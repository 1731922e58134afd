// Sockets that a real daemon holds for a real handler: every byte arrives, no peer notices a freeze or a restart.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Sockets held by the daemon", .serialized, .timeLimit(.minutes(4)))
struct SocketTests {
    /// A daemon with a handler that writes down what it is told, and keeps in `received` what it reads.
    private final class Exchange {
        let daemon: RunningDaemon
        /// Listens for the handler's connection.
        let door: FileDescriptor
        let port: UInt16

        init(
            _ more: String = "", words: [String] = [], linger: String = "20ms", agenda: String = "",
            isStepped: Bool = true
        ) throws {
            daemon = try RunningDaemon()
            if isStepped { try daemon.stepTime() }
            door = try NetworkSocket.listen(at: try #require(NetworkAddress.loopback))
            port = try #require(NetworkSocket.ownEnd(of: door.raw)?.port)
            try daemon.write(SocketTests.caller, to: "caller.py")
            let arguments = (["caller.py"] + words).map { $0 == "caller.py" ? "\(daemon.folder)/caller.py" : $0 }
            try daemon.drop(
                "voip",
                """
                { exec: ["/usr/bin/python3", "-u", \(arguments.map { "\"\($0)\"" }.joined(separator: ", "))],
                  user: "\(me)", timers: { linger: "\(linger)" }, \(agenda)
                  sockets: [{ name: "sip", connect: "tcp:127.0.0.1:\(port)"\(more) }] }
                """)
        }

        /// The next connection of the handler's.
        func accept() throws -> FileDescriptor {
            let number = door.raw
            try #require(daemon.wait { isReadable(number) }, "\(daemon.log)")
            guard let peer = try UnixSocket.accept(on: door) else { throw Missing() }
            return peer
        }

        var told: [String] { daemon.diary("voip") }
        var received: [UInt8] { (try? File.bytes(at: "\(daemon.state)/handlers/voip/received")) ?? [] }

        func count(_ word: String) -> Int { told.count { $0.hasPrefix(word) } }
        func awaitSleep() throws {
            try #require(daemon.wait { try daemon.state(of: "voip") == "suspended" }, "\(daemon.log)")
        }
    }

    private struct Missing: Error {}

    @Test("1 MiB to a frozen handler that reads half of what waits in each wake: what it reads is what was sent")
    func megabyte() throws {
        let exchange = try Exchange(words: ["half"])
        try exchange.daemon.start()
        let peer = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 1 })
        try exchange.awaitSleep()
        let sent = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        var place = 0
        let isWhole = try exchange.daemon.wait(60) {
            while place < sent.count, case .wrote(let count) = try peer.send(sent[place...]) { place += count }
            return exchange.received.count >= sent.count
        }
        #expect(isWhole && exchange.received == sent, "\(exchange.received.count) of \(place)\n\(exchange.daemon.log)")
        #expect(exchange.count("readable") > 3, "it takes several wakes")
        #expect(exchange.count("closed") == 0)
    }

    @Test(
        "a connection that its peer closes is opened again, and a running process is passed the new one, or restarted for it",
        arguments: ["pass", "inherit"])
    func reconnects(way: String) throws {
        let exchange = try Exchange(", fds: \"\(way)\"")
        try exchange.daemon.start()
        let first = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 1 })
        try exchange.awaitSleep()
        let process = try exchange.daemon.handler("voip")["pid"]?.integer
        _ = try first.send(Array("one ".utf8)[...])
        try #require(exchange.daemon.wait { exchange.received == Array("one ".utf8) }, "\(exchange.told)")
        _ = consume first
        try #require(exchange.daemon.wait { exchange.count("closed") == 1 }, "\(exchange.told) \(exchange.daemon.log)")
        let second = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 2 }, "\(exchange.told)")
        try exchange.awaitSleep()
        _ = try second.send(Array("two".utf8)[...])
        try #require(exchange.daemon.wait { exchange.received == Array("one two".utf8) }, "\(exchange.told)")
        let isSame = try exchange.daemon.handler("voip")["pid"]?.integer == process
        #expect(isSame == (way == "pass"), "\(exchange.daemon.log)")
        #expect(exchange.told.last { $0.hasPrefix("opened") }?.contains("passed") == (way == "pass"))
    }

    @Test("a peer is reached again when the handler orders it")
    func ordered() throws {
        let exchange = try Exchange(", fds: \"pass\"", words: ["reconnect"])
        try exchange.daemon.start()
        let first = try exchange.accept()
        let second = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 2 }, "\(exchange.told)")
        var byte: [UInt8] = [0]
        #expect(exchange.daemon.wait { (try? first.read(into: &byte)) == .endOfFile })
        let nothing = try second.read(into: &byte)
        #expect(nothing == .wouldBlock)
    }

    /// Its daemon runs below a service manager that keeps what it is given.
    private func managedExchange(_ more: String = "", words: [String] = []) throws -> Exchange {
        let exchange = try Exchange(more, words: words, isStepped: false)
        let daemon = exchange.daemon
        try daemon.write(Self.manager, to: "manager.py")
        daemon.wrapper = ["/usr/bin/python3", "\(daemon.folder)/manager.py", "\(daemon.folder)/notify"]
        try daemon.start()
        return exchange
    }

    @Test(
        "a restart of the daemon drops no connection where the service manager keeps it: no end, no reset, no byte lost"
    )
    func storedOverRestart() throws {
        let exchange = try managedExchange()
        let daemon = exchange.daemon
        let peer = try exchange.accept()
        try #require(daemon.wait { exchange.count("opened") == 1 }, "\(daemon.log)")
        try exchange.awaitSleep()
        let mark = daemon.log.utf8.count
        kill(daemon.process, SIGUSR1)
        _ = try peer.send(Array("while it was gone".utf8)[...])
        try #require(daemon.wait(60) { daemon.log(after: mark).contains("ready: ") }, "\(daemon.log)")
        try #require(
            daemon.wait { exchange.received == Array("while it was gone".utf8) }, "\(exchange.told)\n\(daemon.log)")
        var byte: [UInt8] = [0]
        let nothing = try peer.read(into: &byte)
        #expect(nothing == .wouldBlock)
        #expect(exchange.count("closed") == 0 && exchange.count("opened") == 1)
    }

    @Test("of a connection that is given up, the service manager closes its copy while the daemon still has its own")
    func closedByManagerFirst() throws {
        let exchange = try managedExchange(", fds: \"pass\"", words: ["reconnect"])
        let daemon = exchange.daemon
        let first = try exchange.accept()
        let second = try exchange.accept()
        try #require(daemon.wait { exchange.count("opened") == 2 }, "\(exchange.told)\n\(daemon.log)")
        #expect(daemon.wait { text(of: "\(daemon.folder)/notify.dropped") == "the daemon has it too\n" })
        var byte: [UInt8] = [0]
        #expect(exchange.daemon.wait { (try? first.read(into: &byte)) == .endOfFile })
        let nothing = try second.read(into: &byte)
        #expect(nothing == .wouldBlock)
    }

    @Test(
        "when the daemon has ended, the close of what the service manager keeps lingers no more, whatever the handler set"
    )
    func keptWithoutLinger() throws {
        let exchange = try managedExchange(words: ["linger"])
        let daemon = exchange.daemon
        let peer = try exchange.accept()
        try #require(daemon.wait { exchange.count("opened") == 1 }, "\(daemon.log)")
        try exchange.awaitSleep()
        kill(daemon.process, SIGUSR1)
        #expect(daemon.wait(60) { text(of: "\(daemon.folder)/notify.kept") == "lingers 0\n" }, "\(daemon.log)")
        #expect(peer.raw >= 0)
    }

    @Test("the connection of an instance stays over a restart as well, though its handler comes with its device")
    func storedOfInstance() throws {
        let daemon = try RunningDaemon.withStrap()
        let door = try NetworkSocket.listen(at: .anyPort)
        let port = try #require(NetworkSocket.ownEnd(of: door.raw)?.port)
        try daemon.write(Self.manager, to: "manager.py")
        try daemon.write(Self.caller, to: "caller.py")
        daemon.wrapper = ["/usr/bin/python3", "\(daemon.folder)/manager.py", "\(daemon.folder)/notify"]
        let socket = "{ name: \"sip\", connect: \"tcp:127.0.0.1:\(port)\" }"
        try daemon.drop(
            "log", manifest("\(daemon.folder)/caller.py", "instance: \"device\", sockets: [\(socket)]"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let number = door.raw
        try #require(daemon.wait(60) { isReadable(number) }, "\(daemon.log)")
        guard let peer = try UnixSocket.accept(on: door) else { throw Missing() }
        let own = "log@bluetooth_C0=F1=F2=F3=F4=01"
        try #require(daemon.wait(60) { daemon.diary(own).contains { $0.hasPrefix("opened") } }, "\(daemon.log)")
        try #require(daemon.wait(60) { try daemon.state(of: "log@strap") == "suspended" }, "\(daemon.log)")
        let mark = daemon.log.utf8.count
        kill(daemon.process, SIGUSR1)
        _ = try peer.send(Array("still here".utf8)[...])
        try #require(daemon.wait(60) { daemon.log(after: mark).contains("ready: ") }, "\(daemon.log)")
        let received = "\(daemon.state)/handlers/\(own)/received"
        try #require(daemon.wait(60) { text(of: received) == "still here" }, "\(daemon.log)")
        var byte: [UInt8] = [0]
        let nothing = try peer.read(into: &byte)
        #expect(nothing == .wouldBlock && !daemon.diary(own).contains { $0.hasPrefix("closed") })
    }

    @Test(
        "a flow of a socket keeps its handler awake while the peer sends, though the handler reads by itself, and no longer"
    )
    func flows() throws {
        let flow = "flows: [{ name: \"call\", from: \"socket:sip\", idle: \"2s\" }],"
        let exchange = try Exchange(words: ["reader"], agenda: flow)
        try exchange.daemon.start()
        let peer = try exchange.accept()
        try #require(exchange.daemon.wait(60) { exchange.count("opened") == 1 }, "\(exchange.daemon.log)")
        try exchange.awaitSleep()
        #expect(exchange.count("started") == 0)
        var sent = 0
        for _ in 0..<60 {
            if case .wrote(let count) = try peer.send(Array("tick".utf8)[...]) { sent += count }
            try exchange.daemon.advance(by: .milliseconds(100))
        }
        let isOne = exchange.count("started") == 1 && exchange.count("ended") == 0
        #expect(try isOne && exchange.daemon.state(of: "voip") == "active", "\(exchange.told)\n\(exchange.daemon.log)")
        try #require(exchange.daemon.wait(60) { exchange.count("ended") >= 1 }, "\(exchange.daemon.log)")
        #expect(exchange.told.last { $0.hasPrefix("ended") }?.contains("idle") == true)
        try exchange.awaitSleep()
        #expect(exchange.received.count == sent)
    }

    @Test("without a service manager the handler is told that its connection closed with the daemon, and gets another")
    func lostOverRestart() throws {
        let exchange = try Exchange()
        try exchange.daemon.start()
        let first = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 1 })
        try exchange.awaitSleep()
        try exchange.daemon.stop()
        var byte: [UInt8] = [0]
        let end = try first.read(into: &byte)
        #expect(end == .endOfFile)
        try exchange.daemon.start()
        _ = try exchange.accept()
        try #require(exchange.daemon.wait { exchange.count("opened") == 2 }, "\(exchange.told)")
        #expect(exchange.told.contains { $0.hasPrefix("closed") && $0.contains("bridge-restart") })
    }

    @Test("a connection to a handler's listening socket wakes it", arguments: ["tcp", "unix"])
    func listens(kind: String) throws {
        let daemon = try RunningDaemon()
        try daemon.write(Self.server, to: "server.py")
        let spare = try NetworkSocket.listen(at: try #require(NetworkAddress.loopback))
        let free = try #require(NetworkSocket.ownEnd(of: spare.raw))
        _ = consume spare
        let path = "\(daemon.folder)/door"
        let place = kind == "tcp" ? "tcp:\(free)" : "unix:\(path)"
        try daemon.drop(
            "door",
            """
            { exec: ["/usr/bin/python3", "-u", "\(daemon.folder)/server.py"], user: "\(me)", timers: { linger: "20ms" },
              sockets: [{ name: "door", listen: "\(place)" }] }
            """)
        try daemon.start()
        try #require(daemon.wait { try daemon.state(of: "door") == "suspended" }, "\(daemon.log)")
        for number in 1...3 {
            let client =
                kind == "tcp"
                ? try NetworkSocket.connect(to: free, forDatagrams: false) : try UnixSocket.connect(to: path)
            var answer: [UInt8] = []
            _ = daemon.wait { (try? client.read(appendingTo: &answer, limit: 64)) != nil && !answer.isEmpty }
            #expect(answer == Array("hello \(number)".utf8), "\(daemon.log)")
            try #require(daemon.wait { try daemon.state(of: "door") == "suspended" }, "\(daemon.log)")
        }
    }

    @Test("what a handler reaches and makes by a Unix path is its user's", .enabled(if: geteuid() == 0))
    func ofItsUser() throws {
        let daemon = try RunningDaemon()
        let account = try Account(named: "nobody")
        try daemon.write(Self.caller, to: "caller.py")
        try Directory.create("\(daemon.folder)/own", mode: 0o755)
        try File.setOwner(of: "\(daemon.folder)/own", to: account)
        let outside = try UnixSocket.listen(at: "\(daemon.folder)/outside", mode: 0o666)
        try daemon.drop(
            "door",
            """
            { exec: ["/usr/bin/python3", "-u", "\(daemon.folder)/caller.py"], user: "nobody",
              timers: { linger: "20ms" },
              sockets: [{ name: "out", connect: "unix:\(daemon.folder)/outside" },
                { name: "in", listen: "unix:\(daemon.folder)/own/door" },
                { name: "shut", listen: "unix:\(daemon.folder)/door" }] }
            """)
        try daemon.start()
        let number = outside.raw
        try #require(daemon.wait(60) { isReadable(number) }, "\(daemon.log)")
        guard let peer = try UnixSocket.accept(on: outside) else { throw Missing() }
        let seen = try PeerCredentials(of: peer.raw)
        #expect(seen.user == account.user && seen.group == account.group && seen.pid == daemon.process)
        let path = "\(daemon.folder)/own/door"
        try #require(daemon.wait(60) { File.exists(path) }, "\(daemon.log)")
        #expect(File.owner(of: path) == account.user && File.mode(of: path) == 0o660)
        let sentence = "could not listen at \(daemon.folder)/door as user nobody: Permission denied (EACCES)"
        #expect(daemon.wait(60) { daemon.log.contains(sentence) }, "\(daemon.log)")
        try daemon.stop()
        #expect(!File.exists(path))
    }

    @Test("a typing error in the manifest at a restart of the daemon costs no connection")
    func storedOverTypingError() throws {
        let exchange = try managedExchange()
        let daemon = exchange.daemon
        let peer = try exchange.accept()
        try #require(daemon.wait(60) { exchange.count("opened") == 1 }, "\(daemon.log)")
        try exchange.awaitSleep()
        let whole = try File.bytes(at: "\(daemon.manifests)/voip.json5")
        let mark = daemon.log.utf8.count
        try daemon.drop("voip", "{ exec: ")
        kill(daemon.process, SIGUSR1)
        _ = try peer.send(Array("while it was broken".utf8)[...])
        try #require(daemon.wait(60) { daemon.log(after: mark).contains("ready: ") }, "\(daemon.log)")
        var byte: [UInt8] = [0]
        let nothing = try peer.read(into: &byte)
        #expect(nothing == .wouldBlock)
        try daemon.write(whole, to: "config/handlers.d/voip.json5")
        let isRead = daemon.wait(60) { exchange.received == Array("while it was broken".utf8) }
        #expect(isRead && exchange.count("closed") == 0, "\(exchange.told)\n\(daemon.log)")
    }

    @Test("pending and why say whether a socket is open, and what it waits for")
    func pending() throws {
        let exchange = try Exchange(", keepalive: \"10m\"")
        try exchange.daemon.start()
        _ = try exchange.accept()
        let isThere = try exchange.daemon.wait {
            let entries = try exchange.daemon.json("pending")["pending"]?.array ?? []
            return entries.contains { $0["waits_for"]?.array?.compactMap(\.string) == ["traffic"] }
        }
        let said = try exchange.daemon.tool("pending").output
        #expect(isThere, "\(said)")
        #expect(try exchange.daemon.tool("why", "voip").output.contains("socket sip"))
    }

    @Test(
        "the examples in Python and Swift print what their peer sends, and their process goes on with a new connection",
        arguments: ["python", "swift"])
    func examples(language: String) throws {
        let daemon = try RunningDaemon()
        let door = try NetworkSocket.listen(at: .anyPort)
        let port = try #require(NetworkSocket.ownEnd(of: door.raw)?.port)
        let command =
            language == "swift"
            ? "\"\(Built.folder)/ExampleHoldLine\""
            : "\"/usr/bin/python3\", \"-B\", \"\(packageFolder)/Examples/handlers/hold-line.py\""
        try daemon.drop(
            "line",
            """
            { exec: [\(command)], env: { PYTHONPATH: "\(packageFolder)/Packages/python" }, user: "\(me)",
              timers: { linger: "20ms" },
              sockets: [{ name: "line", connect: "tcp:127.0.0.1:\(port)", keepalive: "15m", fds: "pass" }] }
            """)
        try daemon.start()
        for word in ["first", "second"] {
            let number = door.raw
            try #require(daemon.wait { isReadable(number) }, "\(daemon.log)")
            guard let peer = try UnixSocket.accept(on: door) else { throw Missing() }
            try #require(daemon.wait { try daemon.state(of: "line") == "suspended" }, "\(daemon.log)")
            _ = try peer.send(Array("\(word) word\n".utf8)[...])
            let isHeard = try daemon.wait { try daemon.tool("logs", "line").output.contains("\(word) word") }
            #expect(isHeard, "\(daemon.log)")
        }
    }

    // MARK: Programs

    /// Reads what waits in its socket: all of it, or with `half` one half. With `reconnect` it asks for another connection once. With
    /// `reader` it reads whenever something comes, without being told. With `linger` the close of its socket takes an hour.
    private static let caller = """
        import json, os, select, socket, struct, sys, threading
        home = os.environ["WAKEBRIDGE_STATE_DIR"]
        book, kept = open(home + "/diary", "a"), open(home + "/received", "ab")
        held = {}
        for pair in os.environ.get("WAKEBRIDGE_SOCKETS", "").split(","):
            if pair:
                held[pair.split("=")[0]] = socket.socket(fileno=int(pair.split("=")[1]))
        if "linger" in sys.argv and "sip" in held:
            held["sip"].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        asked = "reconnect" not in sys.argv
        reads = "reader" in sys.argv and "sip" in held
        def read():
            while True:
                select.select([held["sip"]], [], [])
                piece = held["sip"].recv(65536)
                if not piece:
                    break
                kept.write(piece)
                kept.flush()
        if reads:
            threading.Thread(target=read, daemon=True).start()
        for line in sys.stdin:
            event = json.loads(line)
            if "seq" not in event:
                continue
            word, data = event["type"].split(".")[-1], event.get("data", {})
            book.write(word + " " + json.dumps(data) + "\\n")
            book.flush()
            if word == "opened" and data.get("passed"):
                with socket.socket(fileno=os.dup(int(os.environ["WAKEBRIDGE_SOCKETS_FD"]))) as channel:
                    text, numbers, _, _ = socket.recv_fds(channel, 4096, 4)
                held[json.loads(text)["socket"]] = socket.socket(fileno=numbers[0])
            if word == "opened" and not asked:
                os.write(3, b'{"reconnect":"sip"}\\n')
                asked = True
            if event["type"] == "wakebridge.flow.started":
                continue
            if word == "readable" and not reads:
                left = data["bytes"] if "half" not in sys.argv else max(data["bytes"] // 2, 65536)
                while left > 0:
                    try:
                        piece = held["sip"].recv(left)
                    except BlockingIOError:
                        break
                    if not piece:
                        break
                    kept.write(piece)
                    left -= len(piece)
                kept.flush()
            if word == "closed" and "sip" in held:
                held.pop("sip").close()
            os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    /// Greets each that connects, by number.
    private static let server = """
        import json, os, socket, sys
        number = int(os.environ["WAKEBRIDGE_SOCKETS"].split("=")[1])
        door, count = socket.socket(fileno=number), 0
        for line in sys.stdin:
            event = json.loads(line)
            if event["type"] == "wakebridge.socket.readable":
                for _ in range(event["data"]["connections"]):
                    peer, _ = door.accept()
                    count += 1
                    peer.sendall(b"hello %d" % count)
                    peer.close()
            if "seq" in event:
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    /// Plays the service manager: keeps descriptors by name, and hands them to the next start, which SIGUSR1 asks for. It writes down
    /// whether the daemon has what it closes, and what it keeps when the daemon has ended.
    private static let manager = """
        import os, signal, socket, struct, sys, threading
        place, words, kept = sys.argv[1], sys.argv[2:], {}
        def tell(name, line):
            with open(place + name, "a") as file:
                file.write(line + "\\n")
        def target(path):
            try:
                return os.readlink(path)
            except OSError:
                return None
        def drop(number):
            folder = f"/proc/{child}/fd/"
            others = [target(folder + name) for name in os.listdir(folder)]
            tell(".dropped", "the daemon has it too" if target(f"/proc/self/fd/{number}") in others else "it is the last")
            os.close(number)
        box = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        box.bind(place)
        def keep():
            while True:
                text, numbers, _, _ = socket.recv_fds(box, 4096, 8)
                said = dict(line.split("=", 1) for line in text.decode().splitlines())
                if said.get("FDSTORE") == "1":
                    kept[said["FDNAME"]] = numbers[0]
                elif said.get("FDSTOREREMOVE") == "1" and said["FDNAME"] in kept:
                    drop(kept.pop(said["FDNAME"]))
                elif "BARRIER" in said:
                    for number in numbers:
                        os.close(number)
        threading.Thread(target=keep, daemon=True).start()
        def start():
            child = os.fork()
            if child:
                return child
            settings = dict(os.environ, NOTIFY_SOCKET=place)
            if kept:
                high = [os.dup2(number, 200 + index) for index, number in enumerate(kept.values())]
                for index, number in enumerate(high):
                    os.dup2(number, 3 + index)
                    os.close(number)
                settings.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(kept)), LISTEN_FDNAMES=":".join(kept))
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.execvpe(words[0], words, settings)
        # Waited for, so that none comes between two looks.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
        child = start()
        while True:
            wanted = signal.sigwait([signal.SIGUSR1, signal.SIGTERM])
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
            for number in kept.values():
                with socket.socket(fileno=os.dup(number)) as copy:
                    tell(".kept", "lingers %d" % struct.unpack("ii", copy.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))[0])
            if wanted == signal.SIGTERM:
                break
            child = start()

        """
}

private func isReadable(_ raw: Int32) -> Bool {
    var state = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 0) > 0
}

extension NetworkAddress {
    /// At a port that the kernel chooses.
    fileprivate static var loopback: NetworkAddress? { .anyPort }
}
