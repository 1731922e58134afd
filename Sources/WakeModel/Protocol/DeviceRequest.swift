// Requests of handlers to devices, and their answers.

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

extension DeviceRequest {
    /// `{"device","characteristic"}` or `{"device","stream"}`, with the faults of a handler's line.
    public static func read(from json: JSONValue) throws(ProtocolFault) -> DeviceRequest {
        .read(try json.address(for: "read", keys: ["device", "characteristic", "stream"]))
    }

    /// The same with `hex`.
    public static func write(from json: JSONValue) throws(ProtocolFault) -> DeviceRequest {
        let (target, bytes) = try json.writeRequest()
        return .write(target, bytes: bytes)
    }

    /// The same request of the device that is called so.
    public func addressed(to device: String) -> DeviceRequest {
        var address = address
        address.device = device
        return switch self {
        case .read: .read(address)
        case .write(_, let bytes): .write(address, bytes: bytes)
        }
    }
}

public typealias DeviceAnswer = Result<Notice.Answer, ProtocolFault>
