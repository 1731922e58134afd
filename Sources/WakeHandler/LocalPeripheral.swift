// The handler as a Bluetooth peripheral, in the shape of CoreBluetooth's CBPeripheralManager.
internal import WakeModel

/// The peripheral of the manifest. ``BackgroundSession/localPeripheral`` is it.
///
/// ```swift
/// func localPeripheral(
///     _ peripheral: LocalPeripheral, didReceiveWrite bytes: [UInt8], to characteristic: Characteristic,
///     for event: CentralEvent
/// ) -> WorkResult {
///     peripheral.updateValue(bytes, for: 0x2a37)
///     return .useful
/// }
/// ```
///
/// The manifest declares its services with `peripheral`; the daemon serves them while the process is frozen or gone.
@MainActor
public struct LocalPeripheral: Sendable {
    /// The session whose peripheral it is.
    public let session: BackgroundSession

    /// Sets the value for later reads, and sends it to the subscribers: as `updateValue(_:for:onSubscribedCentrals:)`.
    /// - Parameter centrals: only these get it, and later reads do not; nil for all.
    public func updateValue(
        _ bytes: [UInt8], for characteristic: Characteristic, onSubscribedCentrals centrals: [Central]? = nil
    ) {
        var members = JSONMembers()
        members.add("characteristic", .string(characteristic.description))
        members.add("hex", .string(bytes.hexadecimal))
        members.add("centrals", centrals.map { .array($0.map { .string($0.identifier) }) })
        session.order(HandlerOrder(.serve, members.object))
    }

    /// Answers a read.
    public func respond(to request: CentralReadRequest, with bytes: [UInt8]) {
        var members = JSONMembers()
        members.add("request", .integer(request.number))
        members.add("hex", .string(bytes.hexadecimal))
        session.order(HandlerOrder(.serve, members.object))
    }

    /// Fails a read.
    /// - Parameter code: an error of the application, from 0x80 to 0x9f.
    public func refuse(_ request: CentralReadRequest, withError code: UInt8 = 0x80) {
        var members = JSONMembers()
        members.add("request", .integer(request.number))
        members.add("refuse", .integer(Int64(code)))
        session.order(HandlerOrder(.serve, members.object))
    }
}

/// A handler's callbacks for centrals. All run on the main actor, one at a time. All have a default.
@MainActor
public protocol LocalPeripheralDelegate: BackgroundSessionDelegate {
    /// A central wrote to a characteristic.
    func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveWrite bytes: [UInt8], to characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult
    /// A central reads a dynamic characteristic.
    func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveRead request: CentralReadRequest, of characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult
    /// A central gets the values of a characteristic from now on.
    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didSubscribeTo characteristic: Characteristic
    ) -> WorkResult
    /// A central gets no values any more.
    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didUnsubscribeFrom characteristic: Characteristic
    ) -> WorkResult
    /// A central has confirmed a value that was indicated.
    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didConfirm characteristic: Characteristic
    ) -> WorkResult
}

extension LocalPeripheralDelegate {
    public func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveWrite bytes: [UInt8], to characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult { .nothing }
    public func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveRead request: CentralReadRequest, of characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult { .nothing }
    public func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didSubscribeTo characteristic: Characteristic
    ) -> WorkResult { .nothing }
    public func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didUnsubscribeFrom characteristic: Characteristic
    ) -> WorkResult { .nothing }
    public func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didConfirm characteristic: Characteristic
    ) -> WorkResult { .nothing }

    func call(_ event: CentralEvent, _ session: BackgroundSession) -> WorkResult {
        let (peripheral, characteristic) = (session.localPeripheral, event.characteristic)
        return switch event.kind {
        case .written(let bytes, _):
            localPeripheral(peripheral, didReceiveWrite: bytes, to: characteristic, for: event)
        case .read(let request): localPeripheral(peripheral, didReceiveRead: request, of: characteristic, for: event)
        case .subscribed: localPeripheral(peripheral, central: event.central, didSubscribeTo: characteristic)
        case .unsubscribed: localPeripheral(peripheral, central: event.central, didUnsubscribeFrom: characteristic)
        case .confirmed: localPeripheral(peripheral, central: event.central, didConfirm: characteristic)
        }
    }
}

extension BackgroundSession {
    /// The peripheral that the daemon serves for the handler.
    public var localPeripheral: LocalPeripheral { LocalPeripheral(session: self) }
}
