// An object of the daemon on the bus: calls of other programs come as requests, each answered once.
import CSystemd
import WakeSystem

public final class BusObject {
    private var slot: OpaquePointer?
    private let body: (BusRequest) -> Void

    init(on bus: OpaquePointer, at path: String, _ body: @escaping (BusRequest) -> Void) throws(SystemError) {
        self.body = body
        let code = sd_bus_add_object(
            bus, &slot, path,
            { message, owner, _ in
                guard let owner, let message, let request = BusRequest(message) else { return 0 }
                Unmanaged<BusObject>.fromOpaque(owner).takeUnretainedValue().body(request)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
        try check(code, "offer on the bus", path)
    }

    deinit { cancel() }

    public func cancel() {
        sd_bus_slot_unref(slot)
        slot = nil
    }
}

/// A method call to an object of the daemon. Releasing it without an answer refuses it.
public final class BusRequest {
    public let sender: String
    public let interface: String
    public let member: String
    public let arguments: [BusValue]
    private var message: OpaquePointer?

    /// Nil where the message is no readable method call.
    init?(_ message: OpaquePointer) {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0,
            let arguments = try? BusMessage.values(of: message)
        else { return nil }
        sender = sd_bus_message_get_sender(message).map { String(cString: $0) } ?? ""
        interface = sd_bus_message_get_interface(message).map { String(cString: $0) } ?? ""
        member = sd_bus_message_get_member(message).map { String(cString: $0) } ?? ""
        self.arguments = arguments
        self.message = sd_bus_message_ref(message)
    }

    deinit {
        refuse(
            BusError(name: "org.freedesktop.DBus.Error.Failed", message: "the request was dropped without an answer"))
    }

    public func answer(_ values: [BusValue] = []) {
        guard let call = removeMessage() else { return }
        defer { sd_bus_message_unref(call) }
        var reply: OpaquePointer?
        guard sd_bus_message_new_method_return(call, &reply) >= 0, let reply else { return }
        defer { sd_bus_message_unref(reply) }
        guard (try? BusMessage.append(values, to: reply)) != nil else { return }
        sd_bus_send(nil, reply, nil)
    }

    public func refuse(_ error: BusError) {
        guard let call = removeMessage() else { return }
        defer { sd_bus_message_unref(call) }
        error.name.withCString { name in
            error.message.withCString { text in
                var carried = sd_bus_error(name: name, message: text, _need_free: 0)
                sd_bus_reply_method_error(call, &carried)
            }
        }
    }

    private func removeMessage() -> OpaquePointer? {
        defer { message = nil }
        return message
    }
}
