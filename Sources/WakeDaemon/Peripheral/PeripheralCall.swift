// A call of bluetoothd to a characteristic of a peripheral, as a value.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSources

enum PeripheralCall {
    case write([UInt8], offset: Int, PeripheralCentral)
    case read(offset: Int, PeripheralCentral)
    case subscribe(PeripheralCentral, mtu: Int)
    /// A central prepares a long write.
    case authorize
    /// It has no consequence.
    case ignore
    case malformed

    /// Nil for what is no call of org.bluez.GattCharacteristic1.
    init?(_ request: BusRequest, _ mirror: BluezMirror) {
        guard request.interface == BluezInterface.characteristic else { return nil }
        guard let options = request.arguments.last, options.entries != nil else {
            // Notifications go through descriptors, so these need no answer that means anything.
            self = ["StartNotify", "StopNotify", "Confirm"].contains(request.member) ? .ignore : .malformed
            return
        }
        let central = PeripheralCentral(options["device"]?.string ?? "", in: mirror)
        let offset = Int(options["offset"]?.integer ?? 0)
        switch request.member {
        case "ReadValue": self = .read(offset: offset, central)
        case "WriteValue":
            if options["prepare-authorize"]?.boolean == true {
                self = .authorize
            } else {
                self = request.arguments.first?.bytes.map { .write($0, offset: offset, central) } ?? .malformed
            }
        case "AcquireNotify": self = .subscribe(central, mtu: Int(options["mtu"]?.integer ?? Self.leastMTU))
        default: return nil
        }
    }

    /// The least of the attribute protocol (Core Specification, Vol 3, Part F, 3.2.8).
    private static let leastMTU: Int64 = 23
}

extension PeripheralCentral {
    /// - Parameter path: `/org/bluez/hci0/dev_C0_00_00_00_00_01`.
    init(_ path: String, in mirror: BluezMirror) {
        let known = mirror.peripherals[path]
        let written = path.split(separator: "_").suffix(6).joined(separator: ":")
        self.init(known?.address ?? written, isBonded: known?.isBonded ?? false)
    }
}
