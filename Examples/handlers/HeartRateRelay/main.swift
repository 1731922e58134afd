// Hands a strap's heart rate on: a watch, a phone and a bike computer find it as a strap of its own, all at once.
import WakeHandler

final class Relay: PeripheralDelegate, LocalPeripheralDelegate {
    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult {
        // The battery is no heart rate.
        guard data.characteristic == 0x2a37 else { return .nothing }
        session.localPeripheral.updateValue(data.bytes, for: 0x2a37)
        return .useful
    }

    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didSubscribeTo characteristic: Characteristic
    ) -> WorkResult {
        peripheral.session.log("\(central.identifier) listens")
        return .useful
    }
}

BackgroundSession(delegate: Relay()).run()
