// The edge to GNU libmicrohttpd: one server of one listening socket, its callbacks and its connected clients.
import CMicrohttpd
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// An HTTP server on one listening socket. Runs only when called, and calls back only while it runs.
final class HTTPEdge {
    struct Limits {
        var connections: Int
        var connectionsOfNetwork: Int
        /// A body that is too large is read and discarded up to this: many clients see an answer only after that.
        var discardedBytes = 1024 * 1024

        /// How many clients are accepted for one run of the library, which serves all that are ready before it returns.
        static let acceptedForRun = 4
        /// With TLS, how many clients may be connected without a request: each may cost a key exchange in one run.
        static let newcomers = 12

        static let local = Limits(connections: 64, connectionsOfNetwork: 64)
        static let web = Limits(connections: 128, connectionsOfNetwork: 64)
    }

    private let listening: Int32
    private var daemon: OpaquePointer?
    let limits: Limits
    let admission: Admission
    let answers: Answers
    let loop: EventLoop
    /// Has it run again although its descriptor stays silent: the library does not signal that.
    let wake: Deferred
    private var clients: [HTTPConnection: Client] = [:]
    var owed = OwedRequests<HTTPConnection>()
    var transmissions: [ObjectIdentifier: Transmission] = [:]
    var pending: [ObjectIdentifier: PendingAnswer] = [:]
    var late = LateRefusals()
    private var clock: Timer?
    /// It stops: nothing is begun any more.
    private(set) var isEnding = false

    /// Loads the library, once: call nothing else of it before. Nil, or why it cannot be loaded. On any thread.
    static func load() -> String? { wake_http_load().map { String(cString: $0) } }

    /// Throws where the library cannot start: the process is out of memory or descriptors, or the certificate is none.
    init(
        listening: Int32, loop: EventLoop, admission: Admission, limits: Limits, wake: Deferred, answers: Answers
    ) throws(SystemError) {
        self.listening = listening
        self.limits = limits
        self.admission = admission
        self.answers = answers
        self.loop = loop
        self.wake = wake
        clock = try loop.timer(on: .monotonic, of: self) { $0.tick() }
        daemon = start()
        guard daemon != nil else {
            let isPlain = admission.identity == nil
            throw SystemError(
                "serve HTTP on", isPlain ? "a listening socket" : "a listening socket with TLS", .noSpace,
                advice: isPlain
                    ? "look at the limits on memory and open files"
                    : "check that web.certificate and web.key belong together, and the limits on memory and open files")
        }
    }

    deinit { stop() }

    private func start() -> OpaquePointer? {
        // The library takes more connections than the limit, so that a new one can take the place of the slowest.
        let connections = UInt32(limits.connections + Limits.acceptedForRun + 1)
        guard let identity = admission.identity else {
            return start(wake_http_settings(connections: connections, certificate: nil, key: nil))
        }
        return identity.certificate.withCString { certificate in
            identity.key.withCString { key in
                start(wake_http_settings(connections: connections, certificate: certificate, key: key))
            }
        }
    }

    private func start(_ settings: wake_http_settings) -> OpaquePointer? {
        var settings = settings
        return wake_http_start(
            &settings, Unmanaged.passUnretained(self).toOpaque(),
            { owner, connection, url, method, _, bytes, count, slot in
                guard let edge = HTTPEdge.from(owner), let connection, let count, let slot else {
                    return wake_http_verdict(false)
                }
                return wake_http_verdict(edge.receive(HTTPConnection(connection), url, method, bytes, count, slot))
            },
            { owner, connection, slot, _ in
                HTTPEdge.from(owner)?.complete(slot, on: connection.map { HTTPConnection($0) })
            },
            { owner, connection, _, code in
                guard let edge = HTTPEdge.from(owner), let connection else { return }
                edge.connection(HTTPConnection(connection), hasStarted: wake_http_has_started(code))
            })
    }

    var descriptor: Int32 { daemon.map { wake_http_epoll_descriptor($0) } ?? -1 }

    /// Whether the library can take another connection.
    var hasRoom: Bool { clients.count < limits.connections + Limits.acceptedForRun }

    /// Accepts waiting clients, a few at a time. False where the machine has no room for a connection.
    func accept() -> Bool {
        guard let daemon else { return true }
        for _ in 0..<Limits.acceptedForRun where hasRoom {
            switch -wake_http_accept(daemon, listening) {
            case 0, ECONNABORTED, EINTR: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
            default: return true
            }
        }
        return true
    }

    /// Does what is ready and returns the milliseconds after which it must be run again in any case; nil for never.
    func run() -> Int64? {
        guard let daemon else { return nil }
        wake_http_run(daemon)
        setClock()
        let left = wake_http_timeout_ms(daemon)
        return left < 0 ? nil : left
    }

    /// Ends every connection. Never call it from within an answer.
    func stop() {
        guard let daemon else { return }
        clock = nil
        isEnding = true
        for transmission in transmissions.values { transmission.cut() }
        for answer in pending.values { answer.give(.refusal(Self.ending)) }
        // The library must resume every suspended connection before it stops.
        wake_http_run(daemon)
        wake_http_stop(daemon)
        self.daemon = nil
        wake.cancel()
    }

    /// Ends the streams that one token opened.
    func endStreams(of holder: String) {
        for transmission in transmissions.values where transmission.holder == holder { transmission.cut() }
    }

    private static func from(_ owner: UnsafeMutableRawPointer?) -> HTTPEdge? {
        owner.map { Unmanaged<HTTPEdge>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Time

    /// Cuts who is too slow, and gives the refusals that are due.
    private func tick() {
        let now = SystemClock.monotonic()
        for connection in owed.overdue(at: now) { cut(connection) }
        late.give(at: now)
        setClock()
    }

    private func setClock() {
        guard let next = Instant.earlier(owed.due, late.due) else {
            clock?.disarm()
            return
        }
        clock?.arm(at: next)
    }

    /// Sends a delayed refusal now. The library notices that other connections are shut, and closes them.
    private func cut(_ connection: HTTPConnection) {
        owed.settle(connection)
        if !late.give(on: connection) { connection.cut() }
    }

    // MARK: Connections and requests

    private func connection(_ connection: HTTPConnection, hasStarted: Bool) {
        guard hasStarted else {
            clients[connection] = nil
            owed.end(connection)
            return
        }
        let client = admission.client(of: connection.descriptor)
        clients[connection] = client
        owed.begin(connection, from: admission.network(of: client), at: SystemClock.monotonic())
        makeRoom(for: connection)
    }

    private func makeRoom(for connection: HTTPConnection) {
        let excess = owed.excess(
            over: connection, mostOfNetwork: limits.connectionsOfNetwork, most: limits.connections)
        if let excess { cut(excess) }
        guard admission.identity != nil, let newcomer = owed.excessNewcomer(most: Limits.newcomers) else { return }
        cut(newcomer)
    }

    /// Counts a request through a proxy for the client that the proxy names.
    private func attribute(_ exchange: Exchange, _ connection: HTTPConnection) {
        guard let peer = clients[connection], exchange.client != peer else { return }
        owed.attribute(connection, to: exchange.client.network)
        makeRoom(for: connection)
    }

    /// Called for the head of a request, for each piece of its body, and for its end. False closes the connection.
    private func receive(
        _ connection: HTTPConnection, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
        _ bytes: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Bool {
        guard let opaque = slot.pointee else {
            guard !isEnding else { return false }
            let exchange = Exchange(
                method.map { String(cString: $0) } ?? "", url.map { String(cString: $0) } ?? "/", on: connection,
                by: clients[connection], at: admission, among: answers.routes)
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            owed.welcome(connection)
            attribute(exchange, connection)
            return begin(exchange, on: connection)
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
        guard count.pointee > 0 else { return finish(exchange, on: connection) }
        exchange.append(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count.pointee))
        count.pointee = 0
        return exchange.receivedBytes <= limits.discardedBytes
    }

    /// The library is done with a request; its connection may bring the next.
    private func complete(
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, on connection: HTTPConnection?
    ) {
        if let connection { owed.expect(connection, from: SystemClock.monotonic()) }
        guard let slot, let opaque = slot.pointee else { return }
        slot.pointee = nil
        let exchange = Unmanaged<Exchange>.fromOpaque(opaque).takeRetainedValue()
        forget(exchange)
        guard let transmission = exchange.transmission else { return }
        transmissions[ObjectIdentifier(transmission)] = nil
        transmission.finish()
    }
}
