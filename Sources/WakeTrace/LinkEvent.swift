// The HCI events that tell of links coming and going: read here alone, for captures and for the air.
import WakeModel

/// What one event tells of a link.
enum LinkEvent: Hashable {
    case connected(handle: UInt16, address: String)
    /// A BR/EDR link.
    case classicConnected(handle: UInt16)
    case disconnected(handle: UInt16, reason: UInt8)
    /// What was tried did not happen, or the event is about something else.
    case nothing

    struct Fault: Error, Hashable {
        var reason: String
    }

    /// `body` is what follows the event's code and length.
    init(code: UInt8, body: ArraySlice<UInt8>) throws(Fault) {
        switch (code, body.byte(0)) {
        case (0x03, _): self = try Self.classic(body)
        case (0x05, _): self = try Self.disconnection(body)
        case (0x3e, 0x01), (0x3e, 0x0a), (0x3e, 0x29): self = try Self.connection(body)
        default: self = .nothing
        }
    }

    private static func connection(_ body: ArraySlice<UInt8>) throws(Fault) -> LinkEvent {
        guard let status = body.byte(1), let handle = body.word(2), let address = body.address(6) else {
            throw Fault(reason: "an LE connection event is too short")
        }
        return status == 0 ? .connected(handle: handle & 0x0fff, address: address) : .nothing
    }

    private static func classic(_ body: ArraySlice<UInt8>) throws(Fault) -> LinkEvent {
        guard let status = body.byte(0), let handle = body.word(1) else {
            throw Fault(reason: "a connection event is too short")
        }
        return status == 0 ? .classicConnected(handle: handle & 0x0fff) : .nothing
    }

    private static func disconnection(_ body: ArraySlice<UInt8>) throws(Fault) -> LinkEvent {
        guard let status = body.byte(0), let handle = body.word(1), let reason = body.byte(3) else {
            throw Fault(reason: "a disconnection event is too short")
        }
        return status == 0 ? .disconnected(handle: handle & 0x0fff, reason: reason) : .nothing
    }
}

extension ArraySlice<UInt8> {
    /// Six bytes, the last first: `C0:F1:F2:F3:F4:01`, as BlueZ writes it.
    func address(_ place: Int) -> String? {
        slice(place, 6).map { bytes in
            bytes.reversed().map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
        }
    }
}
