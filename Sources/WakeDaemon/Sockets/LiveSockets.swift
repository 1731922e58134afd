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
    private let stored: StoredSockets
    private let closings: SocketClosings
    private let calls: SocketCalls
    private var answers: Watch?
    private var held: [AgendaKey: HeldSocket] = [:]
    private var openings: [AgendaKey: SocketOpening] = [:]
    /// Sockets whose address another socket of their handler has, which is being closed.
    private var postponed: [AgendaKey: (rule: SocketRule, number: Int32)] = [:]
    /// Sockets that did not open, and are tried again.
    private var failed: Set<AgendaKey> = []
    /// Nil while nothing leads over the network.
    private var ways: WayWatch?
    private let together: TimeSpan
    private let log = Log("sockets")

    /// - Parameter together: changes of routes within this time are looked at once.
    package init(of bridge: Bridge, together: TimeSpan = .seconds(1)) throws(SystemError) {
        (self.bridge, turn, self.together) = (bridge, bridge.turn, together)
        calls = try SocketCalls()
        closings = SocketClosings(calls, on: bridge.loop)
        stored = StoredSockets(closings)
        answers = try bridge.loop.watch(calls.raw, for: .readable, cause: .socket, of: self) { $0.hearAnswers() }
        turn.listeners.observe(self)
        turn.listeners.add(self)
    }

    /// Closes the sockets that the service manager kept for others, after the manifests were read. A handler whose
    /// manifest `mayReturn`, as after a typing error, keeps its own.
    package func settle(_ mayReturn: (String) -> Bool) {
        stored.removeAll(but: bridge.catalog.manifests) { handler in
            let manifest = handler.prefix { $0 != HandlerInstance.mark }
            return !bridge.catalog.isConfigured(String(manifest)) && mayReturn(handler)
        }
    }

    /// The daemon ends, and its handlers have ended: what the service manager keeps stays open, and the rest closes with the process.
    package func close() {
        for opening in openings.keys { openings[opening] = nil }
        for (key, socket) in held {
            if !ServiceState.isHeard { socket.file?.remove() }
            bridge.executor.sockets.remove(socket.number, of: key.handler)
            socket.stopListening()
        }
        closings.conclude(held.values.map(\.raw) + stored.all)
        held = [:]
        (ways, answers) = (nil, nil)
    }

    // MARK: Opening

    private func open(_ key: AgendaKey, _ rule: SocketRule, _ number: Int32) {
        failed.remove(key)
        if let kept = stored.claim(rule, of: id(of: key)) {
            let socket = hold(FileDescriptor(owning: kept.raw), rule, number, key)
            socket.keptAs = kept.keptAs
            return report(.held(bridge.executor.admit(socket.raw, rule, at: number, of: key.handler)), of: key)
        }
        do throws(SystemError) {
            try refuseWhileFull(key)
            switch (rule.side, rule.place) {
            case (.connect, .tcp(let host, let port)), (.connect, .udp(let host, let port)):
                openings[key] = try SocketOpening(
                    rule, number, host: host, port: port, forDatagrams: rule.place.isOfDatagrams)
                advance(key)
            case (.connect, .unix(let path)):
                admit(try UnixSocket.connect(to: path, as: try account(of: key.handler)), rule, number, key)
            case (.listen, _): admit(try listener(rule, of: key.handler), rule, number, key)
            }
        } catch {
            if error.errno == .addressInUse, closings.isBusy(of: id(of: key)) {
                postponed[key] = (rule, number)
                return
            }
            log.warning("\(error.description); socket \(rule.name) of handler \(name(of: key)) is tried again")
            report(.failed(SocketFailure(error.errno)), of: key)
        }
    }

    private func refuseWhileFull(_ key: AgendaKey) throws(SystemError) {
        guard closings.isFull(of: id(of: key)) else { return }
        throw SystemError(
            "open", "another socket", .wouldBlock,
            advice: "many that it gave up are not closed yet; find out which program keeps them open")
    }

    private func listener(_ rule: SocketRule, of handler: HandlerID) throws(SystemError) -> FileDescriptor {
        switch rule.place {
        case .unix(let path):
            return try UnixSocket.listen(at: path, mode: 0o660, as: try account(of: handler))
        case .tcp(let host, let port): return try NetworkSocket.listen(at: try address(host, port))
        case .udp(let host, let port): return try NetworkSocket.bind(at: try address(host, port))
        }
    }

    /// In whose name its sockets are made; nil where that is the daemon's own user.
    private func account(of handler: HandlerID) throws(SystemError) -> Account? {
        guard let manifest = bridge.catalog.handlers[handler] else {
            throw SystemError("find the user of", "handler \(bridge.catalog.name(of: handler))", .noEntry)
        }
        return try bridge.accounts.switching(for: manifest)
    }

    private func address(_ host: String, _ port: UInt16) throws(SystemError) -> NetworkAddress {
        if let address = NetworkAddress("\(host):\(port)") { return address }
        throw SystemError("listen at", "\(host):\(port)", .invalid, advice: "write a numeric address")
    }

    private func advance(_ key: AgendaKey) {
        if let opening = openings[key] { follow(opening.advance(), of: opening, key) }
    }

    private func skipAddress(_ key: AgendaKey) {
        if let opening = openings[key] { follow(opening.skip(), of: opening, key) }
    }

    private func follow(_ progress: consuming SocketOpening.Progress, of opening: SocketOpening, _ key: AgendaKey) {
        switch consume progress {
        case .awaiting(let raw, let readiness): listen(to: opening, at: raw, readiness, key)
        case .opened(let descriptor):
            openings[key] = nil
            admit(descriptor, opening.rule, opening.number, key)
        case .failed(let failure): fail(key, failure)
        }
    }

    private func listen(to opening: SocketOpening, at raw: Int32, _ readiness: Readiness, _ key: AgendaKey) {
        do throws(SystemError) {
            if opening.timer == nil {
                opening.timer = try bridge.loop.timer(on: .monotonic, of: self) { $0.skipAddress(key) }
            }
            opening.watch = try bridge.loop.watch(raw, for: readiness, cause: .socket, of: self) { $0.advance(key) }
            opening.timer?.arm(at: SystemClock.monotonic() + SocketOpening.patience)
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
        let socket = hold(descriptor, rule, number, key)
        stored.keep(socket)
        let entrance = bridge.executor.admit(socket.raw, rule, at: number, of: key.handler)
        report(.opened(entrance), of: key)
    }

    private func hold(
        _ descriptor: consuming FileDescriptor, _ rule: SocketRule, _ number: Int32, _ key: AgendaKey
    ) -> HeldSocket {
        let socket = HeldSocket(descriptor, rule, number, of: id(of: key), serial: closings.makeSerial())
        held[key] = socket
        nameFile(of: socket, key)
        watchWays(of: socket.rule)
        reportTraffic(of: socket, key)
        return socket
    }

    /// Names the file while the manifest still contains its owner: that may be gone when the socket is closed.
    private func nameFile(of socket: HeldSocket, _ key: AgendaKey) {
        guard case (.listen, .unix(let path)) = (socket.rule.side, socket.rule.place) else { return }
        do throws(SystemError) { socket.file = SocketFile(path: path, account: try account(of: key.handler)) } catch {
            log.warning("\(error.description); the file \(path) of handler \(name(of: key)) stays")
        }
    }

    /// The manifest may have changed: the agenda waits for the socket's traffic, or no longer does.
    private func reportTraffic(of socket: HeldSocket, _ key: AgendaKey) {
        let sources = bridge.catalog.handlers[key.handler]?.agenda.dataSources ?? []
        socket.reportsTraffic = sources.contains(.socket(key.id))
        listen(to: socket, key)
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
        postponed[key] = nil
        failed.remove(key)
        guard let socket = held.removeValue(forKey: key) else { return }
        bridge.executor.sockets.remove(socket.number, of: key.handler)
        socket.stopListening()
        closings.end(socket.raw, of: socket.owner, keptAs: socket.keptAs)
        socket.file?.remove()
        if failed.isEmpty, !held.values.contains(where: \.rule.isRouted) { ways = nil }
    }

    private func setWatched(_ isWatched: Bool, _ key: AgendaKey) {
        guard let socket = held[key] else { return }
        socket.isWatched = isWatched
        if isWatched {
            socket.outdateLook()
            look(at: socket)
        }
        listen(to: socket, key)
    }

    private func listen(to socket: HeldSocket, _ key: AgendaKey) {
        do throws(SystemError) {
            try socket.listen(on: bridge.loop, of: self) { $0.lookAfterArrival(key) }
        } catch {
            log.error("\(error.description); traffic in it does not wake handler \(name(of: key))")
        }
    }

    private func lookAfterArrival(_ key: AgendaKey) {
        if let socket = held[key] { look(at: socket) }
    }

    private func look(at socket: HeldSocket) {
        if socket.beginLook() { call(.look, socket) }
    }

    private func call(_ act: SocketAct, _ socket: HeldSocket) {
        calls.add(SocketCall(act, socket.raw, serial: socket.serial), of: socket.owner)
    }

    private func hearAnswers() {
        for answer in calls.removeAnswers() {
            if case .closed = answer.finding { recordClosed(answer.serial) }
            guard let (key, socket) = held.first(where: { $0.value.serial == answer.serial }) else { continue }
            switch answer.finding {
            case .look(let found): hear(found, of: socket, key)
            case .otherWay: report(.wayChanged, of: key)
            case .closed: break
            case .failed(let error):
                log.error("\(error.description); socket \(socket.rule.name) of handler \(name(of: key)) may be late")
                _ = socket.endLook()
            }
        }
    }

    private func recordClosed(_ serial: Int) {
        closings.recordClosed(serial)
        let again = postponed
        postponed = [:]
        for (key, opening) in again.sorted(by: { $0.key < $1.key }) { open(key, opening.rule, opening.number) }
    }

    private func hear(_ found: SocketLook, of socket: HeldSocket, _ key: AgendaKey) {
        let answer = socket.endLook()
        if answer.counts {
            if socket.reportsTraffic, socket.hasArrival(found) { turn.hearTraffic(ofSocket: key.id, of: key.handler) }
            if socket.isWatched { report(.traffic(socket.traffic(found)), of: key) }
        }
        if answer.isDueAgain { look(at: socket) }
    }

    /// Reports only the sockets whose packets leave by another address than before: the others are as they were.
    private func lookAtWays() {
        for (_, socket) in held.sorted(by: { $0.key < $1.key }) where socket.rule.isRouted { call(.checkWay, socket) }
        guard !failed.isEmpty, ways?.hasOtherRoutes() == true else { return }
        for key in failed.sorted() { report(.wayChanged, of: key) }
    }

    private func report(_ report: SocketReport, of key: AgendaKey) { turn.schedule(.socket(key, report)) }

    private func name(of key: AgendaKey) -> String { bridge.catalog.name(of: key.handler) }

    /// An instance's name changes with its device's alias; the id that its state is stored under does not.
    private func id(of key: AgendaKey) -> String { bridge.catalog.handlers[key.handler]?.id ?? name(of: key) }
}

extension LiveSockets: TurnObserver {
    package func perform(_ effect: AgendaEffect) {
        switch effect {
        case .socket(let key, let command): perform(command, of: key)
        case .attention(let key, let sentence):
            log.warning("socket \(key.id) of handler \(name(of: key)): \(sentence); does the handler read it?")
        case .raise, .report, .withdraw, .recall, .release, .press, .answer, .store, .erase, .gate, .open, .close,
            .readZone,
            .leaveZone, .wakeMachine, .limitProcessor, .alert, .notify, .lose, .receipt, .transfer, .peripheral,
            .restart,
            .decision:
            break
        }
    }

    private func perform(_ command: SocketCommand, of key: AgendaKey) {
        switch command {
        case .open(let rule, let number): open(key, rule, number)
        case .close: close(key)
        case .watch: setWatched(true, key)
        case .unwatch: setWatched(false, key)
        case .look: if let socket = held[key] { look(at: socket) }
        case .probe(let isProbed): if let socket = held[key] { call(.probe(isProbed), socket) }
        }
    }
}

extension LiveSockets: InputListener {
    package func hear(_ input: Input, at stamp: Stamp) {
        if case .configure(let handler, _, _, _) = input {
            for (key, socket) in held where key.handler == handler { reportTraffic(of: socket, key) }
        }
        if case .exited(let handler, _, _) = input { takeBack(from: handler) }
    }

    private func takeBack(from handler: HandlerID) {
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
