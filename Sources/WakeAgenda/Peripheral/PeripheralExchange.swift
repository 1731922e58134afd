// The reports that come from a handler's peripheral as bluetoothd serves it, and the commands that go there.
import WakeModel

/// Another machine that has connected to the adapter.
public struct PeripheralCentral: Hashable, Sendable {
    public var address: String
    /// Bluetoothd keeps a key of it: the address is proved.
    public var isBonded: Bool

    public init(_ address: String, isBonded: Bool = false) { (self.address, self.isBonded) = (address, isBonded) }
}

/// A central that gets the values of a characteristic.
public struct PeripheralSubscription: Hashable, Sendable, Comparable {
    public var characteristic: BluetoothUUID
    public var central: String

    public init(_ characteristic: BluetoothUUID, _ central: String) {
        (self.characteristic, self.central) = (characteristic, central)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.characteristic.high, left.characteristic.low, left.central)
            < (right.characteristic.high, right.characteristic.low, right.central)
    }
}

/// Why a peripheral cannot be had now.
public enum PeripheralHindrance: Hashable, Sendable {
    /// There is no bluetoothd.
    case bluetoothd
    /// No adapter of the manifest is on.
    case adapter
    /// The controller advertises as much as it can.
    case slot
    /// Bluetoothd refused it, in its own words.
    case refused(String)
}

public struct PeripheralWrite: Hashable, Sendable {
    /// The number by which it is answered.
    public var request: UInt64
    public var characteristic: BluetoothUUID
    public var central: PeripheralCentral
    public var bytes: [UInt8]
    /// Where in the value the bytes begin; above 0 only for a long write.
    public var offset: Int

    public init(
        request: UInt64, _ characteristic: BluetoothUUID, _ bytes: [UInt8], at offset: Int = 0,
        from central: PeripheralCentral
    ) {
        (self.request, self.characteristic, self.central) = (request, characteristic, central)
        (self.bytes, self.offset) = (bytes, offset)
    }
}

public struct PeripheralRead: Hashable, Sendable {
    public var request: UInt64
    public var characteristic: BluetoothUUID
    public var central: PeripheralCentral
    /// Above 0 where it goes on with a long value.
    public var offset: Int

    public init(
        request: UInt64, _ characteristic: BluetoothUUID, at offset: Int = 0, from central: PeripheralCentral
    ) {
        (self.request, self.characteristic, self.central, self.offset) = (request, characteristic, central, offset)
    }
}

public enum PeripheralReport: Hashable, Sendable {
    /// Centrals can use its services.
    case registered
    case hindered(PeripheralHindrance)
    /// Bluetoothd or the adapter has gone, and with it every link and request.
    case lost(PeripheralHindrance)
    /// The latest advertisement is on the air; with a hindrance it is not.
    case advertised(PeripheralHindrance?)
    case written(PeripheralWrite)
    case read(PeripheralRead)
    case subscribed(PeripheralSubscription, isBonded: Bool, mtu: Int)
    case unsubscribed(PeripheralSubscription)
    /// The central has confirmed an indication.
    case confirmed(PeripheralSubscription)
    /// A number of values went to bluetoothd.
    case sent(PeripheralSubscription, count: Int)
}

/// An advertisement, beside its services.
public struct PeripheralAdvertisement: Hashable, Sendable {
    public var name: String?
    public var interval: TimeSpan
    public var services: [BluetoothUUID]

    public init(name: String? = nil, interval: TimeSpan, services: [BluetoothUUID]) {
        (self.name, self.interval, self.services) = (name, interval, services)
    }
}

/// Why a central's request fails.
public enum PeripheralRefusal: Hashable, Sendable {
    /// It is not bonded, and has to be.
    case notBonded
    /// The characteristic cannot do it.
    case notPermitted
    /// It reads past the end of the value.
    case offset
    /// An error of the application, from 0x80 to 0x9f (Core Specification, Vol 3, Part F, 3.4.1.1).
    case application(UInt8)

    /// The handler is so far behind that the write is not kept.
    static let busy = PeripheralRefusal.application(0x80)
}

public enum PeripheralCommand: TriggerAction {
    public static var kind: TriggerKind { .peripheral }

    /// Serves this from now on, in every life of bluetoothd.
    case offer(PeripheralRule)
    case withdraw
    /// Advertises this from now on; nil for nothing.
    case advertise(PeripheralAdvertisement?)
    /// The write is committed: it may be confirmed.
    case confirm(request: UInt64)
    case answer(request: UInt64, [UInt8])
    case refuse(request: UInt64, PeripheralRefusal)
    /// Answered with ``PeripheralReport/sent(_:count:)``.
    case send([UInt8], PeripheralSubscription)
}
