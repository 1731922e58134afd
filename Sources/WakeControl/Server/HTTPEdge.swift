// The edge to GNU libmicrohttpd: the only file that uses its pointers; bytes are copied out at once.
import CMicrohttpd
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// One HTTP server on one listening socket. Runs only when called, and calls back only while it runs.
final class HTTPEdge {
    struct Limits {
        var connections: Int
        var connectionsOfAddress: Int
        /// A body that is too large is read and discarded up to this: many clients see an answer only after that.
        var discardedBytes = 1024 * 1024

        static let local = Limits(connections: 64, connectionsOfAddress: 64)
        static let web = Limits(connections: 128, connectionsOfAddress: 64)
    }

    private var daemon: OpaquePointer?
    private let limits: Limits
    private let admission: Admission
    private let answers: Answers
    private let loop: EventLoop
    /// Has it run again although its descriptor stays silent: the library does not signal that.
    private let wake: Deferred
    private var clients: [OpaquePointer: Client] = [:]
    private var owed = OwedRequests<OpaquePointer>()
    private var transmissions: [ObjectIdentifier: Transmission] = [:]
    private var pending: [ObjectIdentifier: PendingAnswer] = [:]
    /// Refusals that come later, the next first.
    private var slowed: [(due: Instant, answer: PendingAnswer, refusal: ControlRefusal)] = []
    private var clock: Timer?
    /// It stops: nothing is begun any more.
    private var isEnding = false

    /// Loads the library, once: call nothing else of it before. Nil, or why it cannot be loaded. On any thread.
    static func load() -> String? { wake_http_load().map { String(cString: $0) } }

    /// Throws where the library cannot start: the process is out of memory or descriptors, or the certificate is none.
    init(
        listening: Int32, loop: EventLoop, admission: Admission, limits: Limits, wake: Deferred, answers: Answers
    ) throws(SystemError) {
        self.limits = limits
        self.admission = admission
        self.answers = answers
        self.loop = loop
        self.wake = wake
        clock = try loop.timer(on: .monotonic, of: self) { $0.tick() }
        daemon = start(on: listening)
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

    private func start(on listening: Int32) -> OpaquePointer? {
        // One more than are kept, so that the newest can take the place of the slowest.
        let connections = UInt32(limits.connections + 2)
        guard let identity = admission.identity else {
            return start(wake_http_settings(listening: listening, connections: connections, certificate: nil, key: nil))
        }
        return identity.certificate.withCString { certificate in
            identity.key.withCString { key in
                start(
                    wake_http_settings(
                        listening: listening, connections: connections, certificate: certificate, key: key))
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
                return wake_http_verdict(edge.receive(connection, url, method, bytes, count, slot))
            },
            { owner, connection, slot, _ in HTTPEdge.from(owner)?.complete(slot, on: connection) },
            { owner, connection, _, code in
                guard let edge = HTTPEdge.from(owner), let connection else { return }
                edge.connection(connection, hasStarted: wake_http_has_started(code))
            })
    }

    var descriptor: Int32 { daemon.map { wake_http_epoll_descriptor($0) } ?? -1 }

    /// Does what is ready and returns the milliseconds after which it must be run again in any case; nil for never.
    func run() -> Int64? {
        guard let daemon else { return nil }
        wake_http_run(daemon)
        setClock()
        let left = wake_http_timeout_ms(daemon)
        return left < 0 ? nil : left
    }

    /// Ends every connection, and leaves the listening socket open. Must not be called from within an answer.
    func stop() {
        guard let daemon else { return }
        clock = nil
        isEnding = true
        for transmission in transmissions.values { transmission.cut() }
        for answer in pending.values { answer.give(.refusal(Self.ending)) }
        // The library requires that every suspended connection is resumed before it is stopped, and takes in this run what
        // still waits to be accepted.
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
        let due = slowed.prefix { $0.due <= now }
        slowed.removeFirst(due.count)
        for late in due { late.answer.give(.refusal(late.refusal)) }
        setClock()
    }

    private func setClock() {
        guard let next = Instant.earlier(owed.due, slowed.first?.due) else {
            clock?.disarm()
            return
        }
        clock?.arm(at: next)
    }

    /// The library notices, and closes it.
    private func cut(_ connection: OpaquePointer) {
        owed.settle(connection)
        NetworkSocket.end(wake_http_connection_descriptor(connection))
    }

    // MARK: Connections and requests

    private func connection(_ connection: OpaquePointer, hasStarted: Bool) {
        guard hasStarted else {
            // At its limit the library stops listening, and listens again only in a later run, so one must be scheduled.
            if clients.count >= limits.connections { wake.schedule() }
            clients[connection] = nil
            owed.end(connection)
            return
        }
        let client = admission.client(of: wake_http_connection_descriptor(connection))
        clients[connection] = client
        owed.begin(connection, from: client.address?.bytes ?? [], at: SystemClock.monotonic())
        let excess = owed.excess(
            over: connection, mostOfAddress: limits.connectionsOfAddress, most: limits.connections)
        if let excess { cut(excess) }
    }

    /// Called for the head of a request, for each piece of its body, and for its end. False closes the connection.
    private func receive(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
        _ bytes: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Bool {
        guard let opaque = slot.pointee else {
            guard !isEnding else { return false }
            let exchange = Exchange(connection, url, method, by: clients[connection], below: admission.pathPrefix)
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            return begin(exchange, on: connection)
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
        if count.pointee > 0 {
            exchange.append(bytes, count.pointee)
            count.pointee = 0
            return exchange.receivedBytes <= limits.discardedBytes
        }
        // The library comes back to a request when its connection is resumed.
        if let pending = exchange.pending { return settle(pending, exchange, on: connection) }
        guard !isEnding else { return false }
        guard exchange.receivedBytes <= exchange.bodyLimit else {
            return answer(.refusal(exchange.tooLarge(exchange.receivedBytes)), exchange, on: connection)
        }
        return answer(answers.answer(exchange.request, exchange.page), exchange, on: connection)
    }

    /// Refuses a request by its head, where the body need not be read.
    private func begin(_ exchange: Exchange, on connection: OpaquePointer) -> Bool {
        switch admission.admit(exchange.client, exchange.head, to: exchange.request.path) {
        case .refused(let refusal): return answer(.refusal(refusal), exchange, on: connection)
        case .slowed(let refusal): return answer(.slowly(refusal), exchange, on: connection)
        case .admitted(let role, let holder): (exchange.request.role, exchange.holder) = (role, holder)
        }
        if let redirect = admission.redirect(from: exchange.address) {
            return answer(.content(redirect), exchange, on: connection)
        }
        if let refusal = exchange.endpoint?.refusal(of: exchange.request) {
            return answer(.refusal(refusal), exchange, on: connection)
        }
        guard exchange.announcedBytes > limits.discardedBytes else { return true }
        return answer(.refusal(exchange.tooLarge(exchange.announcedBytes)), exchange, on: connection)
    }

    private func answer(_ response: ControlResponse, _ exchange: Exchange, on connection: OpaquePointer) -> Bool {
        switch response {
        case .json(let status, let bytes): reply(connection, status, "application/json", bytes)
        case .text(let status, let text): reply(connection, status, "text/plain; charset=utf-8", Array(text.utf8))
        case .content(let content):
            reply(connection, content.status, content.type, content.bytes, content.headers)
        case .refusal(let refusal):
            reply(connection, refusal.status.rawValue, "application/json", refusal.json, refusal.headers)
        case .stream(let contentType, _) where exchange.request.method == "HEAD":
            reply(connection, 200, contentType, [])
        case .stream(let contentType, let onOpen):
            open(ControlStream(contentType: contentType, as: exchange.framing), exchange, connection, onOpen)
        case .slowly(let refusal): postpone(refusal, exchange, connection)
        case .later(let begin): postpone(exchange, connection, begin)
        }
    }

    /// Suspends the connection until the answer is there.
    private func postpone(
        _ exchange: Exchange, _ connection: OpaquePointer, _ begin: (@escaping (ControlResponse) -> Void) -> Void
    ) -> Bool {
        let answer = makePending(exchange, connection)
        begin { answer.give($0) }
        return settle(answer, exchange, on: connection)
    }

    private func postpone(_ refusal: ControlRefusal, _ exchange: Exchange, _ connection: OpaquePointer) -> Bool {
        let answer = makePending(exchange, connection)
        slowed.append((SystemClock.monotonic() + WrongTokens.delay, answer, refusal))
        return settle(answer, exchange, on: connection)
    }

    private func makePending(_ exchange: Exchange, _ connection: OpaquePointer) -> PendingAnswer {
        let answer = PendingAnswer(on: connection, of: self)
        exchange.pending = answer
        pending[ObjectIdentifier(answer)] = answer
        owed.settle(connection)
        return answer
    }

    private func settle(_ pending: PendingAnswer, _ exchange: Exchange, on connection: OpaquePointer) -> Bool {
        guard let response = pending.response else {
            pending.suspend()
            return true
        }
        forget(exchange)
        return answer(response, exchange, on: connection)
    }

    private func forget(_ exchange: Exchange) {
        guard let answer = exchange.pending else { return }
        exchange.pending = nil
        pending[ObjectIdentifier(answer)] = nil
        answer.finish()
    }

    func schedule() { wake.schedule() }

    private static let ending = ControlRefusal(
        .failed, code: "failed", message: "the daemon ends before the answer came", advice: "ask its next life")

    private func reply(
        _ connection: OpaquePointer, _ status: Int, _ type: String, _ bytes: [UInt8],
        _ headers: [ControlContent.Header] = []
    ) -> Bool {
        guard let response = wake_http_answer(bytes, bytes.count) else { return false }
        return send(response, connection, status, type, headers)
    }

    private func send(
        _ response: OpaquePointer, _ connection: OpaquePointer, _ status: Int, _ type: String,
        _ headers: [ControlContent.Header] = []
    ) -> Bool {
        wake_http_add_header(response, "Content-Type", type)
        wake_http_add_header(response, "X-Content-Type-Options", "nosniff")
        if !headers.contains(where: { $0.name == "Cache-Control" }) {
            wake_http_add_header(response, "Cache-Control", "no-store")
        }
        for header in headers { wake_http_add_header(response, header.name, header.value) }
        return wake_http_send(connection, UInt32(status), response)
    }

    private func open(
        _ stream: ControlStream, _ exchange: Exchange, _ connection: OpaquePointer, _ onOpen: (ControlStream) -> Void
    ) -> Bool {
        let transmission = Transmission(stream, on: connection, of: self, for: exchange.holder)
        exchange.transmission = transmission
        transmissions[ObjectIdentifier(transmission)] = transmission
        owed.settle(connection)
        // The library does not watch a suspended connection, so its end would go unnoticed.
        transmission.hangup = try? loop.watch(
            wake_http_connection_descriptor(connection), for: exchange.client.hangup, of: transmission
        ) { $0.cut() }
        onOpen(stream)
        let response = wake_http_stream(
            Unmanaged.passRetained(transmission).toOpaque(),
            { source, _, buffer, room in
                guard let source, let buffer else { return wake_http_end_of_stream() }
                return Unmanaged<Transmission>.fromOpaque(source).takeUnretainedValue().fill(buffer, room)
            },
            { source in if let source { Unmanaged<Transmission>.fromOpaque(source).release() } })
        guard let response else { return false }
        return send(response, connection, 200, stream.sentType)
    }

    private func complete(
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, on connection: OpaquePointer?
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

/// One request while it arrives; the library keeps it from its head to its completion.
private final class Exchange {
    let client: Client
    let head: RequestHead
    let page: PageRequest
    /// As it was asked for, without its query.
    let address: String
    /// The announced length of the body; 0 where the client did not announce it.
    let announcedBytes: Int
    /// Nil where the API has no such address.
    let endpoint: Endpoint?
    var request: ControlRequest
    /// Whose token it brought.
    var holder: String?
    private(set) var receivedBytes = 0
    var transmission: Transmission?
    var pending: PendingAnswer?

    init(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, by client: Client?,
        below prefix: [String]
    ) {
        self.client = client ?? .local(nil)
        let headers = Exchange.values(of: connection, areHeaders: true)
        func first(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
        head = RequestHead(
            hosts: all("host"), origins: all("origin"), authorization: first("authorization"), cookies: all("cookie"))
        page = PageRequest(
            acceptsGzip: first("accept-encoding")?.contains("gzip") ?? false, knownTag: first("if-none-match"))
        announcedBytes = first("content-length").map { Int($0) ?? .max } ?? 0
        address = url.map { String(cString: $0) } ?? "/"
        var path = address.split(separator: "/").map(String.init)
        if !prefix.isEmpty, path.starts(with: prefix) { path.removeFirst(prefix.count) }
        request = ControlRequest(
            method: method.map { String(cString: $0) } ?? "", path: path,
            query: Exchange.values(of: connection, areHeaders: false),
            user: self.client.user, address: self.client.address, accept: first("accept") ?? "")
        endpoint = try? Endpoint.find(request)
    }

    var bodyLimit: Int { endpoint?.bodyLimit ?? Endpoint.usualBodyLimit }

    var framing: ControlStream.Framing { request.accept.contains("text/event-stream") ? .events : .lines }

    func tooLarge(_ count: Int) -> ControlRefusal {
        ControlRefusal(
            .tooLarge, code: "too-large", message: "a body of \(count) bytes is too large",
            advice: "send at most \(bodyLimit) bytes")
    }

    /// Counts the bytes, and keeps them while their sum is within the limit.
    func append(_ bytes: UnsafePointer<CChar>?, _ count: Int) {
        receivedBytes += count
        guard let bytes, receivedBytes <= bodyLimit else { return }
        UnsafeRawBufferPointer(start: bytes, count: count).withMemoryRebound(to: UInt8.self) {
            request.body.append(contentsOf: $0)
        }
    }

    /// Headers with their names in lower case, or the parameters of the query.
    private static func values(of connection: OpaquePointer, areHeaders: Bool) -> [ControlRequest.Parameter] {
        var found: [ControlRequest.Parameter] = []
        withUnsafeMutablePointer(to: &found) { found in
            wake_http_each_value(
                connection, areHeaders,
                { sink, _, name, value in
                    guard let sink, let name else { return wake_http_verdict(false) }
                    let text = value.map { String(cString: $0) } ?? ""
                    sink.assumingMemoryBound(to: [ControlRequest.Parameter].self).pointee
                        .append(ControlRequest.Parameter(String(cString: name), text))
                    return wake_http_verdict(true)
                }, found)
        }
        return areHeaders ? found.map { ControlRequest.Parameter($0.name.lowercased(), $0.value) } : found
    }
}

/// An answer that comes later: its connection is suspended meanwhile.
private final class PendingAnswer {
    private(set) var response: ControlResponse?
    private let connection: OpaquePointer
    /// Nil once the library is done with the connection, or about to send the answer.
    private var edge: HTTPEdge?
    private var isSuspended = false

    init(on connection: OpaquePointer, of edge: HTTPEdge) {
        self.connection = connection
        self.edge = edge
    }

    func suspend() {
        guard !isSuspended, edge != nil else { return }
        isSuspended = true
        wake_http_suspend(connection)
    }

    /// Of several answers the first one counts.
    func give(_ response: ControlResponse) {
        guard self.response == nil, let edge else { return }
        self.response = response
        guard isSuspended else { return }
        isSuspended = false
        wake_http_resume(connection)
        edge.schedule()
    }

    func finish() { edge = nil }
}

/// A stream on its connection: suspended while there is nothing to send; notices when the client has gone.
private final class Transmission {
    private let stream: ControlStream
    private let connection: OpaquePointer
    /// Whose token opened it; nil on the control socket.
    let holder: String?
    /// Nil once the library is done with the connection.
    private var edge: HTTPEdge?
    private var isSuspended = false
    var hangup: Watch?

    init(_ stream: ControlStream, on connection: OpaquePointer, of edge: HTTPEdge, for holder: String?) {
        self.stream = stream
        self.connection = connection
        self.edge = edge
        self.holder = holder
    }

    /// Copies the next bytes into the library's buffer; 0 after suspending the connection.
    func fill(_ buffer: UnsafeMutablePointer<CChar>, _ room: Int) -> Int {
        switch stream.read(upTo: room) {
        case .bytes(let bytes):
            UnsafeMutableRawPointer(buffer).copyMemory(from: bytes, byteCount: bytes.count)
            return bytes.count
        case .none:
            suspend()
            return 0
        case .end: return wake_http_end_of_stream()
        }
    }

    /// The client has disconnected, or the server ends.
    func cut() {
        hangup = nil
        stream.disconnect()
        resume()
    }

    /// The library is done with the connection and closes its socket next.
    func finish() {
        edge = nil
        hangup = nil
        stream.wake = nil
        stream.disconnect()
    }

    private func suspend() {
        guard !isSuspended, edge != nil else { return }
        isSuspended = true
        wake_http_suspend(connection)
        stream.wake = { [weak self] in self?.resume() }
    }

    private func resume() {
        guard isSuspended, let edge else { return }
        isSuspended = false
        wake_http_resume(connection)
        edge.schedule()
    }
}
