// Services that many devices have besides their own: a profile includes them by name, and a device may lack them.
import WakeModel

enum IncludedService: String, Hashable, Sendable, CaseIterable {
    case battery
    case deviceInformation = "device-information"

    var notify: [BluetoothUUID] {
        switch self {
        case .battery: [BluetoothUUID(short: 0x2a19)]
        case .deviceInformation: []
        }
    }

    /// Battery level; manufacturer, model, serial number and the revisions of hardware, firmware and software.
    var read: [BluetoothUUID] {
        switch self {
        case .battery: [BluetoothUUID(short: 0x2a19)]
        case .deviceInformation: [0x2a29, 0x2a24, 0x2a25, 0x2a27, 0x2a26, 0x2a28].map { BluetoothUUID(short: $0) }
        }
    }
}
