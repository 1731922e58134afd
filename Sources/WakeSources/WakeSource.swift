// The interface of every source of events. A new source is a folder beside this file and a line in `SourceRegistry`.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

/// A way in which events reach the bridge. Everything runs on the loop's thread.
public protocol WakeSource: AnyObject {
    /// Begins to listen. Called once, when the handlers are known, and the message bus is open.
    func start() throws(SystemError)
    /// The bridge ends in order.
    func stop()
    /// Profiles have changed. Devices that are there go on with the profile that they have.
    func reconfigure() throws(SystemError)
    /// Manifests have changed: which devices and beacons they name.
    func manifestsChanged()
    /// The settings of broadcasts have changed.
    func adopt(_ rules: BroadcastRules)
    /// Whether this one of the sources of its kind has the device.
    func watches(_ uri: String) -> Bool
    /// An operator has opened, paused or closed the session of a device.
    func setSession(_ session: LinkSession, of uri: String)
    /// Calls `answer` exactly once, now or later.
    func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void)
    /// A sentence on why a device's events do not reach its handlers; nil if they do.
    func blockingReason(of uri: String) -> String?
    /// The present devices without a profile or without adoption, so that no handler receives their events.
    var unwatched: [UnwatchedDevice] { get }
    /// The demands of its profile that a watched device does not meet; nil for none, and while that is not known.
    func lack(of uri: String) -> NearMiss?
    /// Whether it matters to one of its devices which handlers are awake.
    var needsWanted: Bool { get }
    /// The first handler of a device has woken, or the last one sleeps. Called while ``needsWanted`` is true.
    func setWanted(_ isWanted: Bool, _ uri: String)
    /// Everything that was raised is committed, and its handlers have it.
    func turnEnded()
}

/// A source that the bridge makes by itself, for the devices of one kind.
public protocol RegisteredSource: WakeSource {
    static var kind: SourceKind { get }
    /// For how long the end of its link goes unnoticed at most: that much before the bridge ended may be lost.
    static func unnoticedEnd(of device: Device) -> TimeSpan
    /// - Parameter host: outlives the source.
    static func make(for host: any SourceHost, _ resources: SourceResources) throws(SystemError) -> Self
}

extension RegisteredSource {
    public static func unnoticedEnd(of device: Device) -> TimeSpan { .zero }
}

extension WakeSource {
    public var needsWanted: Bool { false }
    public func manifestsChanged() {}
    public func watches(_ uri: String) -> Bool { true }
    public func reconfigure() throws(SystemError) {}
    public func setSession(_ session: LinkSession, of uri: String) {}
    public func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        answer(.failure(.notConnected(request.address.device, verb: request.verb)))
    }
    public func blockingReason(of uri: String) -> String? { nil }
    public var unwatched: [UnwatchedDevice] { [] }
    public func lack(of uri: String) -> NearMiss? { nil }
    public func adopt(_ rules: BroadcastRules) {}
    public func setWanted(_ isWanted: Bool, _ uri: String) {}
    public func turnEnded() {}
}

/// Resources that all sources of a bridge share.
public struct SourceResources {
    public let bus: SystemBus
    /// The one way to bluetoothd; nil where no Bluetooth is watched.
    public let bluez: BluezClient?
    /// The directory for state that must outlive the daemon.
    public let stateDirectory: String
    public let adapterPins: AdapterPins
    public let broadcasts: BroadcastRules
    /// Other bridges whose devices are devices here.
    public let remotes: [RemoteBridge]

    public init(
        bus: SystemBus, bluez: BluezClient?, stateDirectory: String, adapterPins: AdapterPins = AdapterPins(),
        broadcasts: BroadcastRules = BroadcastRules(), remotes: [RemoteBridge] = []
    ) {
        self.remotes = remotes
        (self.bus, self.bluez, self.stateDirectory) = (bus, bluez, stateDirectory)
        (self.adapterPins, self.broadcasts) = (adapterPins, broadcasts)
    }
}

public enum SourceRegistry {
    /// The sources of real devices, in the order in which they start. Among several of one kind the later ones name
    /// their devices, and the first has the others.
    public static var all: [any RegisteredSource.Type] {
        [BluetoothSource.self, BroadcastSource.self, AccessorySource.self, RemoteSource.self]
    }
}
