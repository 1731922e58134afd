// The edge to GNU libmicrohttpd: the only file that uses its pointers; bytes are copied out at once.
import CMicrohttpd
import Glibc
import WakeLoop
import WakeSystem

/// One HTTP server on one listening socket. Runs only when called, and calls back only while it runs.
final class HTTPEdge {
    struct Limits {
        var connections: UInt32 = 64
        /// A body that is too large is read and discarded up to this: many clients see an answer only after that.
        var discardedBytes = 1024 * 1024
    }

    private var daemon: OpaquePointer?
    private let limits: Limits
    private let admission: Admission
    private let handle: (ControlRequest) -> ControlResponse
    private let loop: EventLoop
    private var peers: [OpaquePointer: Peer?] = [:]
    private var transmissions: [ObjectIdentifier: Transmission] = [:]
    private var pending: [ObjectIdentifier: PendingAnswer] = [:]
    /// Called when it must be run again although its descriptor stays silent: the library does not signal that.
    var onWake: (() -> Void)?

    /// Loads the library, once: call nothing else of it before. Nil, or why it cannot be loaded. On any thread.
    static func load() -> String? { wake_http_load().map { String(cString: $0) } }

    /// Throws where the library cannot start: the process is out of memory or descriptors.
    init(
        listening: Int32, loop: EventLoop, admission: Admission, limits: Limits = Limits(),
        handle: @escaping (ControlRequest) -> ControlResponse
    ) throws(SystemError) {
        self.limits = limits
        self.admission = admission
        self.handle = handle
        self.loop = loop
        daemon = wake_http_start(
            listening, limits.connections, Unmanaged.passUnretained(self).toOpaque(),
            { owner, connection, url, method, _, bytes, count, slot in
                guard let edge = HTTPEdge.from(owner), let connection, let count, let slot else {
                    return wake_http_verdict(false)
                }
                return wake_http_verdict(edge.receive(connection, url, method, bytes, count, slot))
            },
            { owner, _, slot, _ in HTTPEdge.from(owner)?.complete(slot) },
            { owner, connection, _, code in
                guard let edge = HTTPEdge.from(owner), let connection else { return }
                edge.connection(connection, hasStarted: wake_http_has_started(code))
            })
        guard daemon != nil else {
            throw SystemError(
                "serve HTTP on", "the control socket", .noSpace, advice: "look at the limits on memory and open files")
        }
    }

    deinit { stop() }

    var descriptor: Int32 { daemon.map { wake_http_epoll_descriptor($0) } ?? -1 }

    /// Does what is ready and returns the milliseconds after which it must be run again in any case; nil for never.
    func run() -> Int64? {
        guard let daemon else { return nil }
        wake_http_run(daemon)
        let left = wake_http_timeout_ms(daemon)
        return left < 0 ? nil : left
    }

    /// Ends every connection, and leaves the listening socket open. Must not be called from within `handle`.
    func stop() {
        guard let daemon else { return }
        onWake = nil
        for transmission in transmissions.values { transmission.cut() }
        for answer in pending.values { answer.give(.refusal(Self.ending)) }
        // The library requires that every suspended connection is resumed before it is stopped.
        wake_http_run(daemon)
        wake_http_stop(daemon)
        self.daemon = nil
    }

    private static func from(_ owner: UnsafeMutableRawPointer?) -> HTTPEdge? {
        owner.map { Unmanaged<HTTPEdge>.fromOpaque($0).takeUnretainedValue() }
    }

    private func connection(_ connection: OpaquePointer, hasStarted: Bool) {
        guard hasStarted else {
            // At its limit the library stops listening, and listens again only in a later run, so one must be scheduled.
            if peers.count >= Int(limits.connections) { onWake?() }
            peers[connection] = nil
            return
        }
        peers[connection] = .some(Peer(of: wake_http_connection_descriptor(connection)))
    }

    /// Called for the head of a request, for each piece of its body, and for its end. False closes the connection.
    private func receive(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
        _ bytes: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Bool {
        guard let opaque = slot.pointee else {
            let exchange = Exchange(connection, url, method, by: peers[connection] ?? nil)
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
        guard exchange.receivedBytes <= exchange.bodyLimit else {
            return answer(.refusal(exchange.tooLarge(exchange.receivedBytes)), exchange, on: connection)
        }
        return answer(handle(exchange.request), exchange, on: connection)
    }

    /// Refuses a request by its head, where the body need not be read.
    private func begin(_ exchange: Exchange, on connection: OpaquePointer) -> Bool {
        guard let peer = exchange.peer, admission.admits(peer) else {
            return answer(.refusal(admission.refusal(of: exchange.peer)), exchange, on: connection)
        }
        guard exchange.announcedBytes > limits.discardedBytes else { return true }
        return answer(.refusal(exchange.tooLarge(exchange.announcedBytes)), exchange, on: connection)
    }

    private func answer(_ response: ControlResponse, _ exchange: Exchange, on connection: OpaquePointer) -> Bool {
        switch response {
        case .json(let status, let bytes): reply(connection, status, "application/json", bytes)
        case .text(let status, let text): reply(connection, status, "text/plain; charset=utf-8", Array(text.utf8))
        case .content(let type, let bytes): reply(connection, 200, type, bytes)
        case .refusal(let refusal):
            reply(connection, refusal.status.rawValue, "application/json", refusal.json, allowed: refusal.allowed)
        case .stream(let contentType, _) where exchange.request.method == "HEAD":
            reply(connection, 200, contentType, [])
        case .stream(let contentType, let onOpen):
            open(ControlStream(contentType: contentType), exchange, connection, onOpen)
        case .later(let begin):
            postpone(exchange, connection, begin)
        }
    }

    /// Suspends the connection until the answer is there.
    private func postpone(
        _ exchange: Exchange, _ connection: OpaquePointer, _ begin: (@escaping (ControlResponse) -> Void) -> Void
    ) -> Bool {
        let answer = PendingAnswer(on: connection, of: self)
        exchange.pending = answer
        pending[ObjectIdentifier(answer)] = answer
        begin { answer.give($0) }
        return settle(answer, exchange, on: connection)
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

    private static let ending = ControlRefusal(
        .failed, code: "failed", message: "the daemon ends before the answer came", advice: "ask its next life")

    private func reply(
        _ connection: OpaquePointer, _ status: Int, _ type: String, _ bytes: [UInt8], allowed: [String] = []
    ) -> Bool {
        guard allowed.isEmpty else {
            return wake_http_answer(
                connection, UInt32(status), type, allowed.joined(separator: ", "), bytes, bytes.count)
        }
        return wake_http_answer(connection, UInt32(status), type, nil, bytes, bytes.count)
    }

    private func open(
        _ stream: ControlStream, _ exchange: Exchange, _ connection: OpaquePointer, _ onOpen: (ControlStream) -> Void
    ) -> Bool {
        let transmission = Transmission(stream, on: connection) { [weak self] in self?.onWake?() }
        exchange.transmission = transmission
        transmissions[ObjectIdentifier(transmission)] = transmission
        // The library does not watch a suspended connection, so its end would go unnoticed.
        transmission.hangup = try? loop.watch(wake_http_connection_descriptor(connection), for: [.hangup]) {
            [weak transmission] _ in transmission?.cut()
        }
        onOpen(stream)
        return wake_http_stream(
            connection, stream.contentType, Unmanaged.passRetained(transmission).toOpaque(),
            { source, _, buffer, room in
                guard let source, let buffer else { return wake_http_end_of_stream() }
                return Unmanaged<Transmission>.fromOpaque(source).takeUnretainedValue().fill(buffer, room)
            },
            { source in if let source { Unmanaged<Transmission>.fromOpaque(source).release() } })
    }

    private func complete(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
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
    let peer: Peer?
    /// The announced length of the body; 0 where the client did not announce it.
    let announcedBytes: Int
    var request: ControlRequest
    let bodyLimit: Int
    private(set) var receivedBytes = 0
    var transmission: Transmission?
    var pending: PendingAnswer?

    init(_ connection: OpaquePointer, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, by peer: Peer?) {
        self.peer = peer
        let length = wake_http_header(connection, "Content-Length")
        announcedBytes = length.map { Int(String(cString: $0)) ?? .max } ?? 0
        let path = url.map { String(cString: $0) } ?? "/"
        request = ControlRequest(
            method: method.map { String(cString: $0) } ?? "", path: path.split(separator: "/").map(String.init),
            query: Exchange.query(of: connection), user: peer?.user ?? .max, role: .pair,
            accept: wake_http_header(connection, "Accept").map { String(cString: $0) } ?? "")
        bodyLimit = (try? Endpoint.find(request))?.bodyLimit ?? Endpoint.usualBodyLimit
    }

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

    private static func query(of connection: OpaquePointer) -> [ControlRequest.Parameter] {
        var found: [ControlRequest.Parameter] = []
        withUnsafeMutablePointer(to: &found) { found in
            wake_http_each_parameter(
                connection,
                { sink, _, name, value in
                    guard let sink, let name else { return wake_http_verdict(false) }
                    let text = value.map { String(cString: $0) } ?? ""
                    sink.assumingMemoryBound(to: [ControlRequest.Parameter].self).pointee
                        .append(ControlRequest.Parameter(String(cString: name), text))
                    return wake_http_verdict(true)
                }, found)
        }
        return found
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
        edge.onWake?()
    }

    func finish() { edge = nil }
}

/// A stream on its connection: suspended while there is nothing to send; notices when the client has gone.
private final class Transmission {
    private let stream: ControlStream
    private let connection: OpaquePointer
    private var isSuspended = false
    private var isFinished = false
    private let onWake: () -> Void
    var hangup: Watch?

    init(_ stream: ControlStream, on connection: OpaquePointer, onWake: @escaping () -> Void) {
        self.stream = stream
        self.connection = connection
        self.onWake = onWake
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
        isFinished = true
        hangup = nil
        stream.wake = nil
        stream.disconnect()
    }

    private func suspend() {
        guard !isSuspended, !isFinished else { return }
        isSuspended = true
        wake_http_suspend(connection)
        stream.wake = { [weak self] in self?.resume() }
    }

    private func resume() {
        guard isSuspended, !isFinished else { return }
        isSuspended = false
        wake_http_resume(connection)
        onWake()
    }
}
