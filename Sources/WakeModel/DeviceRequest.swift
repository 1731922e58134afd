// What a handler asks of a device, and what comes back.

public enum DeviceRequest: Hashable, Sendable {
    case read(DeviceAddress)
    case write(DeviceAddress, bytes: [UInt8])

    /// As the handler wrote it.
    public var verb: String {
        switch self {
        case .read: "read"
        case .write: "write"
        }
    }

    public var address: DeviceAddress {
        switch self {
        case .read(let address), .write(let address, _): address
        }
    }
}

public typealias DeviceAnswer = Result<Notice.Answer, ProtocolFault>
