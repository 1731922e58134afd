// The real devices of a bridge, whatever they are attached by: their sessions, and what handlers ask of them.
import WakeCore
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

/// One way in which devices reach the bridge.
protocol DeviceWatch: AnyObject {
    /// What the user's switch says from now on.
    func apply(_ session: LinkSession, to source: String)
    func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void)
    /// What keeps a device from its handlers, as a sentence; nil where nothing does.
    func hindrance(of source: String) -> String?
    /// The bridge ends in order.
    func end()
}

final class LiveDevices {
    /// Which kinds of device are watched.
    struct Kinds: OptionSet {
        let rawValue: Int
        static let bluetooth = Kinds(rawValue: 1)
        static let accessories = Kinds(rawValue: 2)
        static let all: Kinds = [.bluetooth, .accessories]
    }

    unowned let bridge: Bridge
    let sessions: SessionBook
    let bluetooth: BluetoothWatch?
    let accessories: AccessoryWatch?

    init(_ bridge: Bridge, _ kinds: Kinds, bus: SystemBus, stateDirectory: String) throws(SystemError) {
        self.bridge = bridge
        let sessions = SessionBook(in: stateDirectory)
        self.sessions = sessions
        bluetooth = kinds.contains(.bluetooth) ? try BluetoothWatch(bridge, bus: bus, sessions: sessions) : nil
        accessories =
            kinds.contains(.accessories)
            ? try AccessoryWatch(bridge, sessions: sessions, stateDirectory: stateDirectory) : nil
        if let bluetooth { try accessories?.listen(to: bluetooth.source.client) }
        var watches: [SourceKind: any DeviceWatch] = [:]
        watches[.bluetoothCentral] = bluetooth
        watches[.externalAccessory] = accessories
        bridge.executor.requests.serve(watches)
    }

    /// After the manifests are read, so that who watches what is known. A machine that keeps us from udev may still have
    /// Bluetooth, or a trace to play.
    func begin() {
        do throws(SystemError) { try accessories?.begin() } catch {
            Log("accessories").error(
                "\(error.description); accessories are not watched until the bridge is started anew")
        }
    }

    /// Devices that are not there yet get them; those that are go on with what they have.
    func profilesDidChange() {
        bluetooth?.profilesDidChange()
        do throws(SystemError) { try accessories?.profilesDidChange() } catch {
            Log("accessories").error(
                "\(error.description); a profile's new subsystems are not heard of: reload again, or restart wakebridged"
            )
        }
    }

    func end() {
        bluetooth?.end()
        accessories?.end()
    }

    /// Nil where devices of the mode are not watched.
    func watch(of mode: SourceKind) -> (any DeviceWatch)? {
        mode == .bluetoothCentral ? bluetooth : accessories
    }

    /// Nil for a device that has no switch.
    func session(of device: Device) -> LinkSession? { watch(of: device.kind).map { _ in sessions[device.uri] } }

    func set(_ session: LinkSession, of device: Device) throws(SystemError) {
        try sessions.set(session, of: device.uri, needsTrust: device.kind == .bluetoothCentral)
        watch(of: device.kind)?.apply(session, to: device.uri)
    }
}

extension ProtocolFault {
    init(_ failure: TalkFailure, _ request: DeviceRequest) {
        let device = request.address.device
        switch failure {
        case .notConnected: self = .notConnected(device, verb: request.verb)
        case .notOffered(let why), .refused(let why):
            self = .deviceFailed(device, verb: request.verb, why: why)
        }
    }
}
