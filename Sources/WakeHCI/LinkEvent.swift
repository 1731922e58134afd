// Parses the HCI events about links that come, go and fail, for captures and for the live monitor channel.
import WakeModel

/// The report of one event about a link.
package enum LinkEvent: Hashable {
    case connected(handle: UInt16, address: String)
    /// A BR/EDR link.
    case classicConnected(handle: UInt16)
    case disconnected(handle: UInt16, reason: UInt8)
    /// The link cannot be encrypted: `status` is the reason.
    case unencrypted(handle: UInt16, status: UInt8)
    /// The controller has no room for another link.
    case noRoom
    /// The controller gives up a connection to an LE peripheral that it had begun.
    case failed(forWantOfRoom: Bool)
    /// An attempt failed, or the event is about something else.
    case nothing

    package struct Fault: Error, Hashable {
        package var reason: String
    }

    /// `body` is the part after the event's code and length.
    package init(code: UInt8, body: ArraySlice<UInt8>) throws(Fault) {
        switch (code, body.byte(0)) {
        case (0x03, _): self = try Self.classic(body)
        case (0x05, _): self = try Self.disconnection(body)
        case (0x3e, 0x01), (0x3e, 0x0a), (0x3e, 0x29): self = try Self.connection(body)
        case (0x08, _), (0x30, _), (0x59, _): self = Self.encryption(body)
        case (0x0f, let status?) where Self.refusals.contains(status) && Self.connects.contains(body.word(2) ?? 0):
            self = .noRoom
        default: self = .nothing
        }
    }

    /// Connection Limit Exceeded, Rejected due to Limited Resources.
    private static let refusals: Set<UInt8> = [0x09, 0x0d]
    /// The kernel cancelled the attempt, or no central answered its own advertising.
    private static let callsOff: Set<UInt8> = [0x02, 0x3c]
    /// LE Create Connection and its extended form.
    private static let connects: Set<UInt16> = [0x200d, 0x2043]

    private static func encryption(_ body: ArraySlice<UInt8>) -> LinkEvent {
        guard let status = body.byte(0), let handle = body.word(1), status != 0 else { return .nothing }
        return .unencrypted(handle: handle & 0x0fff, status: status)
    }

    private static func connection(_ body: ArraySlice<UInt8>) throws(Fault) -> LinkEvent {
        guard let status = body.byte(1), let handle = body.word(2), let address = body.address(6) else {
            throw Fault(reason: "an LE connection event is too short")
        }
        if status == 0 { return .connected(handle: handle & 0x0fff, address: address) }
        return callsOff.contains(status) ? .nothing : .failed(forWantOfRoom: refusals.contains(status))
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
