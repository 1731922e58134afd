// The sockets of handlers in a bridge that runs: opened, held, looked at, handed to processes and to the next start of the daemon.
import WakeAgenda
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the descriptors. The agenda decides; what it asks for comes by ``perform(_:)``, and what is found goes to the turn.
package final class LiveSockets {
    private let bridge: Bridge
    private let turn: Turn
    private let stored = StoredSockets()
    private var held: [AgendaKey: HeldSocket] = [:]
    private var openings: [AgendaKey: SocketOpening] = [:]
    /// Those that did not open, and are tried again.
    private var failed: Set<AgendaKey> = []
    /// Nil while nothing leads over the network.
    private var ways: WayWatch?
    private let together: TimeSpan
    private let log = Log("sockets")

    /// - Parameter together: changes of routes within this time are looked at once.
    package init(of bridge: Bridge, together: TimeSpan = .seconds(1)) {
        (self.bridge, turn, self.together) = (bridge, bridge.turn, together)
        turn.listeners.observe(self)
        turn.listeners.add(self)
    }

    /// After the manifests were read: what the service manager kept for others is let go.
    package func settle() {
        let declared = bridge.catalog.handlers.values.flatMap { manifest in
            manifest.agenda.sockets.map { StoredSockets.name($0, of: manifest.id) }
        }
        stored.removeAll(but: Set(declared))
    }

    /// The daemon ends: what the service manager keeps stays open.
    package func close() {
        for opening in openings.keys { openings[opening] = nil }
        for (key, socket) in held {
            if !ServiceState.isHeard { removeFile(of: socket.rule) }
            bridge.executor.sockets.remove(socket.number, of: key.handler)
        }
        held = [:]
        ways = nil
    }

    // MARK: What flows go by

    /// From now on `follower` learns of each arrival in the socket, also while its handler is awake; nil ends that. False where the
    /// socket is not open.
    @discardableResult
    func follow(_ key: AgendaKey, by follower: (any SocketFollower)?) -> Bool {
        guard let socket = held[key] else { return false }
        socket.follower = follower
        listen(to: socket, key)
        return true
    }

    // MARK: Opening

    private func open(_ key: AgendaKey, _ rule: SocketRule, _ number: Int32) {
        failed.remove(key)
        if let kept = stored.claim(rule, number, of: name(of: key)) {
            hold(kept, as: key)
            bridge.executor.sockets.put(kept.raw, rule.name, at: number, of: key.handler)
            return report(.held, of: key)
        }
        do throws(SystemError) {
            switch (rule.side, rule.place) {
            case (.connect, .tcp(let host, let port)), (.connect, .udp(let host, let port)):
                openings[key] = try SocketOpening(
                    rule, number, host: host, port: port, forDatagrams: rule.place.isOfDatagrams)
                advance(key)
            case (.connect, .unix(let path)): admit(try UnixSocket.connect(to: path), rule, number, key)
            case (.listen, _): admit(try listener(rule, of: key.handler), rule, number, key)
            }
        } catch {
            log.warning("\(error.description); socket \(rule.name) of handler \(name(of: key)) is tried again")
            report(.failed(SocketFailure(error.errno)), of: key)
        }
    }

    private func listener(_ rule: SocketRule, of handler: HandlerID) throws(SystemError) -> FileDescriptor {
        switch rule.place {
        case .unix(let path):
            let socket = try UnixSocket.listen(at: path, mode: 0o660)
            if let manifest = bridge.catalog.handlers[handler], let account = try bridge.accounts.account(of: manifest)
            {
                try File.setOwner(of: path, to: account)
            }
            return socket
        case .tcp(let host, let port): return try NetworkSocket.listen(at: try address(host, port))
        case .udp(let host, let port): return try NetworkSocket.bind(at: try address(host, port))
        }
    }

    private func address(_ host: String, _ port: UInt16) throws(SystemError) -> NetworkAddress {
        if let address = NetworkAddress("\(host):\(port)") { return address }
        throw SystemError("listen at", "\(host):\(port)", .invalid, advice: "write a numeric address")
    }

    private func advance(_ key: AgendaKey) {
        guard let opening = openings[key] else { return }
        switch opening.advance() {
        case .awaiting(let raw, let readiness): listen(to: opening, at: raw, readiness, key)
        case .opened(let descriptor):
            openings[key] = nil
            admit(descriptor, opening.rule, opening.number, key)
        case .failed(let failure): fail(key, failure)
        }
    }

    private func listen(to opening: SocketOpening, at raw: Int32, _ readiness: Readiness, _ key: AgendaKey) {
        do throws(SystemError) {
            let watch = try bridge.loop.watch(raw, for: readiness, of: self) { $0.advance(key) }
            guard opening.isNew else { return opening.wait(watch, nil) }
            let timer = try bridge.loop.timer(on: .monotonic, of: self) { $0.fail(key, .timeout) }
            timer.arm(at: SystemClock.monotonic() + SocketOpening.patience)
            opening.wait(watch, timer)
        } catch {
            log.error(error.description)
            fail(key, .failed)
        }
    }

    private func fail(_ key: AgendaKey, _ failure: SocketFailure) {
        guard let opening = openings.removeValue(forKey: key) else { return }
        log.notice("socket \(opening.rule.name) of handler \(name(of: key)) does not open: \(failure.rawValue)")
        failed.insert(key)
        watchWays(of: opening.rule)
        report(.failed(failure), of: key)
    }

    private func admit(_ descriptor: consuming FileDescriptor, _ rule: SocketRule, _ number: Int32, _ key: AgendaKey) {
        let socket = HeldSocket(descriptor, rule, number)
        hold(socket, as: key)
        stored.keep(socket, of: name(of: key))
        let entrance = bridge.executor.admit(socket.raw, rule, at: number, of: key.handler)
        report(.opened(entrance), of: key)
    }

    private func hold(_ socket: HeldSocket, as key: AgendaKey) {
        held[key] = socket
        watchWays(of: socket.rule)
    }

    private func watchWays(of rule: SocketRule) {
        guard rule.isRouted, ways == nil else { return }
        do throws(SystemError) {
            ways = try WayWatch(on: bridge.loop, together: together, of: self) { $0.lookAtWays() }
        } catch {
            log.warning("\(error.description); connections over another way are noticed when they fail")
        }
    }

    // MARK: Holding

    private func close(_ key: AgendaKey) {
        openings[key] = nil
        failed.remove(key)
        guard let socket = held.removeValue(forKey: key) else { return }
        bridge.executor.sockets.remove(socket.number, of: key.handler)
        stored.remove(socket.rule, of: name(of: key))
        socket.end()
        removeFile(of: socket.rule)
        if failed.isEmpty, !held.values.contains(where: \.rule.isRouted) { ways = nil }
    }

    private func removeFile(of rule: SocketRule) {
        if case (.listen, .unix(let path)) = (rule.side, rule.place) { try? File.remove(path) }
    }

    private func setWatched(_ isWatched: Bool, _ key: AgendaKey) {
        guard let socket = held[key] else { return }
        socket.isWatched = isWatched
        // First what waits, so that each arrival after it is new.
        if isWatched { look(at: socket, key) }
        listen(to: socket, key)
    }

    private func listen(to socket: HeldSocket, _ key: AgendaKey) {
        do throws(SystemError) {
            try socket.listen(on: bridge.loop, of: self) { $0.hearArrival(key) }
        } catch {
            log.error("\(error.description); traffic in it does not wake handler \(name(of: key))")
        }
    }

    private func hearArrival(_ key: AgendaKey) {
        guard let socket = held[key] else { return }
        socket.follower?.hadTraffic(key)
        if socket.isWatched { look(at: socket, key) }
    }

    private func look(at socket: HeldSocket, _ key: AgendaKey) {
        do throws(SystemError) { report(.traffic(try socket.look()), of: key) } catch {
            log.error(error.description)
        }
    }

    /// Only those whose packets leave by another address than before are told of: the others are as they were.
    private func lookAtWays() {
        for (key, socket) in held.sorted(by: { $0.key < $1.key })
        where socket.rule.isRouted && NetworkSocket.isOnItsWay(socket.raw) == false {
            report(.wayChanged, of: key)
        }
        guard !failed.isEmpty, ways?.hasOtherRoutes() == true else { return }
        for key in failed.sorted() { report(.wayChanged, of: key) }
    }

    private func probe(_ key: AgendaKey, _ isProbed: Bool) {
        guard let socket = held[key] else { return }
        do throws(SystemError) { try NetworkSocket.probe(socket.raw, isProbed) } catch {
            log.warning(error.description)
        }
    }

    private func report(_ report: SocketReport, of key: AgendaKey) { turn.schedule(.socket(key, report)) }

    private func name(of key: AgendaKey) -> String { bridge.catalog.name(of: key.handler) }
}

extension LiveSockets: TurnObserver {
    package func perform(_ effect: AgendaEffect) {
        switch effect {
        case .socket(let key, let command): perform(command, of: key)
        case .attention(let key, let sentence):
            log.warning("socket \(key.id) of handler \(name(of: key)): \(sentence); does the handler read it?")
        case .raise, .withdraw, .recall, .release, .press, .answer, .store, .erase, .gate, .open, .close, .readZone,
            .leaveZone, .wakeMachine, .limitProcessor, .alert, .notify, .lose, .receipt, .transfer, .restart, .decision:
            break
        }
    }

    private func perform(_ command: SocketCommand, of key: AgendaKey) {
        switch command {
        case .open(let rule, let number): open(key, rule, number)
        case .close: close(key)
        case .watch: setWatched(true, key)
        case .unwatch: setWatched(false, key)
        case .look: if let socket = held[key] { look(at: socket, key) }
        case .probe(let isProbed): probe(key, isProbed)
        }
    }
}

extension LiveSockets: InputListener {
    package func hear(_ input: Input, at stamp: Stamp) {
        guard case .exited(let handler, _, _) = input else { return }
        let shelf = bridge.executor.sockets
        let lent = held.filter { $0.key.handler == handler && shelf.isLent($0.value.number, of: handler) }
        shelf.takeBack(from: handler)
        for key in lent.keys.sorted() { report(.orphaned, of: key) }
    }

    package func hear(_ input: AgendaInput, at stamp: Stamp) {}
}

extension SocketRule {
    /// A way over the network leads to its peer.
    fileprivate var isRouted: Bool { isConnection && place.isRouted }
}

extension SocketPlace {
    fileprivate var isOfDatagrams: Bool {
        switch self {
        case .udp: true
        case .tcp, .unix: false
        }
    }
}
