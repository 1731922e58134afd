// Sockets as iOS's VoIP sockets were: the system holds them while the program sleeps, and calls it for traffic and to keep them alive.
internal import WakeModel

/// The sockets of the manifest. ``BackgroundSession/sockets`` is one.
///
/// ```swift
/// session.sockets.register(forSocketNamed: "sip") { event in
///     guard case .readable = event.kind, let descriptor = session.sockets.descriptor(of: "sip") else { return .nothing }
///     return readAll(from: descriptor)
/// }
/// session.sockets.setKeepAliveTimeout(.seconds(900), forSocketNamed: "sip") { descriptor in ping(descriptor) }
/// ```
///
/// The manifest declares them with `sockets`. One for which nothing is registered comes to ``BackgroundSessionDelegate`` or
/// ``BackgroundSession/events``.
@MainActor
public struct SocketCenter: Sendable {
    let session: BackgroundSession

    /// The number under which the process has a socket: inherited at its start, or passed to it since; nil where it has none. After
    /// ``SocketEvent/Kind/closed(_:)`` it is that of the old connection, for you to close. Its reads wait for nothing (O_NONBLOCK).
    public func descriptor(of name: String) -> Int32? { session.socketDescriptors[name] }

    /// The names of those that the process has.
    public var open: [String] { session.socketDescriptors.names }

    /// Registers a closure for all that happens to a socket, but for keep-alives that have a closure of their own.
    /// - Parameter handler: its result finishes the event. After an error it comes again.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forSocketNamed name: String, handler: @escaping @MainActor (SocketEvent) throws -> WorkResult
    ) -> Bool {
        session.register(.socket(name)) { work in
            if case .socket(let event) = work.event.kind { work.perform { try handler(event) } }
        }
    }

    /// Registers work that awaits. It is cancelled when its time is nearly over.
    /// - Parameter handler: its result finishes the event. After an error it comes again.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forSocketNamed name: String, handler: @escaping @MainActor @Sendable (SocketEvent) async throws -> WorkResult
    ) -> Bool {
        session.register(.socket(name)) { work in
            if case .socket(let event) = work.event.kind { work.perform { try await handler(event) } }
        }
    }

    /// Has the handler called in time to send its peer something: as `setKeepAliveTimeout(_:handler:)`.
    /// - Parameters:
    ///   - timeout: 600 s at least; nil for that of before, or of the manifest. The handler is called before it is over.
    ///   - handler: is given the socket's descriptor. After an error the call comes again.
    /// - Returns: false where a closure is registered already; that one stays.
    @discardableResult
    public func setKeepAliveTimeout(
        _ timeout: Duration?, forSocketNamed name: String, handler: @escaping @MainActor (Int32) throws -> Void
    ) -> Bool {
        let isNew = session.register(.keepAlive(name)) { work in
            work.perform {
                guard let descriptor = session.socketDescriptors[name] else { return .nothing }
                try handler(descriptor)
                return .useful
            }
        }
        setKeepAlive(timeout, name)
        return isNew
    }

    /// The time begins again: you have just sent your peer something.
    public func restartKeepAlive(forSocketNamed name: String) { setKeepAlive(nil, name) }

    private func setKeepAlive(_ timeout: Duration?, _ name: String) {
        var members = JSONMembers()
        members.add("socket", .string(name))
        members.add("within_s", timeout.map { .seconds($0) })
        session.order(HandlerOrder(.keepalive, members.object))
    }

    /// Gives up the connection, and has another one opened at once.
    public func reconnect(_ name: String) { session.order(HandlerOrder(.reconnect, .string(name))) }
}

extension BackgroundSession {
    /// The sockets that the daemon holds.
    public var sockets: SocketCenter { SocketCenter(session: self) }
}
