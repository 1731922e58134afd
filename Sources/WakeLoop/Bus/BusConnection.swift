// A connection to a D-Bus message bus, on the loop: calls with deadlines, signals, and objects for other programs.
import CSystemd
import Glibc
import WakeModel
import WakeSystem

public enum BusAddress: Hashable, Sendable {
    /// The machine's bus, or the one that DBUS_SYSTEM_BUS_ADDRESS names.
    case system
    /// An address in the specification's form: `unix:path=/run/…`.
    case address(String)

    var text: String {
        switch self {
        case .system: Environment.value(of: "DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        case .address(let text): text
        }
    }

    fileprivate var name: String {
        switch self {
        case .system: "the system bus"
        case .address(let text): "the bus \(text)"
        }
    }
}

/// The destination and method of a call.
public struct BusCall: Sendable {
    public var destination: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
    /// Whether the bus may start the destination for it, where that does not run.
    public var startsDestination = true

    public init(_ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// A method of the bus itself.
    public static func ofBus(_ member: String, _ arguments: [BusValue] = []) -> BusCall {
        BusCall("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}

/// No call blocks here: connecting only begins, and its failure is reported like any other loss of the connection.
/// It must outlive its subscriptions and objects, and is used only on the loop's thread.
public final class BusConnection {
    let handle: OpaquePointer
    private var pending: [ObjectIdentifier: PendingCall] = [:]
    private var lossWatch: BusSubscription?
    /// Called once when the bus is gone: nothing is received and every call fails from then on. Make a new connection.
    public var didLoseConnection: () -> Void = {}
    private var hasToldLoss = false
    /// True before the loss is reported: sd-bus fails the open calls first.
    public var isLost: Bool { hasToldLoss || sd_bus_is_open(handle) <= 0 }

    /// - Parameter takesDescriptors: others can send descriptors along. Every user may do that on the system bus, and to close one can
    ///   take as long as its sender likes.
    public init(
        on loop: EventLoop, to address: BusAddress = .system, takesDescriptors: Bool = false
    ) throws(SystemError) {
        handle = try Self.open(address, takesDescriptors)
        try check(sd_bus_attach_event(handle, loop.handle, 0), "watch", "the message bus")
        lossWatch = try subscribe(
            BusRule(
                sender: "org.freedesktop.DBus.Local", path: .exactly("/org/freedesktop/DBus/Local"),
                interface: "org.freedesktop.DBus.Local", member: "Disconnected")
        ) { [unowned self] _ in lose() }
    }

    deinit {
        for call in pending.values { call.cancel() }
        lossWatch?.cancel()
        sd_bus_detach_event(handle)
        sd_bus_close(handle)
        sd_bus_unref(handle)
    }

    private static func open(_ address: BusAddress, _ takesDescriptors: Bool) throws(SystemError) -> OpaquePointer {
        var made: OpaquePointer?
        try check(sd_bus_new(&made), "make", "a bus connection")
        guard let made else { throw SystemError("make", "a bus connection", .invalid) }
        do {
            try check(sd_bus_set_address(made, address.text), "take the address of", address.name)
            try check(sd_bus_set_bus_client(made, 1), "connect to", address.name)
            try check(sd_bus_negotiate_fds(made, takesDescriptors ? 1 : 0), "connect to", address.name)
            try check(sd_bus_start(made), "connect to", address.name)
        } catch {
            sd_bus_unref(made)
            throw error
        }
        return made
    }

    private func lose() {
        guard !hasToldLoss else { return }
        hasToldLoss = true
        didLoseConnection()
    }

    // MARK: Calls

    /// Makes a call. `answer` gets the result within `timeout`, exactly once, unless this connection is released first.
    public func call(
        _ call: BusCall, within timeout: TimeSpan, _ answer: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        do throws(BusError) {
            let message = try Self.message(for: call, on: handle)
            defer { sd_bus_message_unref(message) }
            let pending = PendingCall { [unowned self] call, result in
                self.pending[ObjectIdentifier(call)] = nil
                answer(result)
            }
            try pending.begin(message, on: handle, within: timeout)
            self.pending[ObjectIdentifier(pending)] = pending
        } catch {
            answer(.failure(error))
        }
    }

    private static func message(for call: BusCall, on handle: OpaquePointer) throws(BusError) -> OpaquePointer {
        var made: OpaquePointer?
        try passed(
            sd_bus_message_new_method_call(
                handle, &made, call.destination, call.path, call.interface, call.member), "begin a call")
        guard let made else { throw .local("begin a call", -ENOMEM) }
        do {
            if !call.startsDestination { try passed(sd_bus_message_set_auto_start(made, 0), "begin a call") }
            try BusMessage.append(call.arguments, to: made)
        } catch {
            sd_bus_message_unref(made)
            throw error
        }
        return made
    }

    // MARK: Signals and objects

    /// Calls `body` for every matching signal, for as long as the subscription is kept.
    public func subscribe(
        _ rule: BusRule, dropping glance: BusGlance? = nil, _ body: @escaping (BusSignal) -> Void
    ) throws(SystemError) -> BusSubscription {
        try BusSubscription(on: handle, rule, glance, body)
    }

    /// Publishes the object at `path`, for as long as the returned object is kept. `body` answers every request, now or
    /// later.
    public func export(
        at path: String, _ body: @escaping (BusRequest) -> Void
    ) throws(SystemError) -> BusObject {
        try BusObject(on: handle, at: path, body)
    }
}

/// A call without an answer yet; sd-bus holds an unretained pointer to it until then.
private final class PendingCall {
    private var slot: OpaquePointer?
    private let answer: (PendingCall, Result<[BusValue], BusError>) -> Void

    init(_ answer: @escaping (PendingCall, Result<[BusValue], BusError>) -> Void) { self.answer = answer }

    func begin(_ message: OpaquePointer, on bus: OpaquePointer, within timeout: TimeSpan) throws(BusError) {
        let code = sd_bus_call_async(
            bus, &slot, message,
            { reply, owner, _ in
                guard let owner, let reply else { return 0 }
                Unmanaged<PendingCall>.fromOpaque(owner).takeUnretainedValue().finish(reply)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque(), UInt64(max(timeout.nanoseconds, 1000)) / 1000)
        try passed(code, "send a call")
    }

    private func finish(_ reply: OpaquePointer) {
        let result: Result<[BusValue], BusError>
        if let error = BusError.carried(by: reply) {
            result = .failure(error)
        } else {
            do throws(BusError) {
                result = .success(try BusMessage.values(of: reply))
            } catch {
                result = .failure(error)
            }
        }
        cancel()
        answer(self, result)
    }

    func cancel() {
        sd_bus_slot_unref(slot)
        slot = nil
    }
}
