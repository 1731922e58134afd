// Orders for devices that broadcast: they cannot be paired, so the daemon accepts them by name.
import WakeControl
import WakeEngine
import WakeModel
import WakeSources
import WakeSystem

extension AccessoryAnswers {
    /// Nil where the order is about none.
    func nameBroadcaster(_ order: AccessoryOrder) throws(ControlRefusal) -> ControlResponse? {
        guard let name = order.name, let source = sources.broadcasts,
            let address = Device.bluetoothAddress(in: order.device).flatMap({ RadioAddress($0) }),
            sources.bluetooth?.hasPeripheral(order.device) != true
        else { return nil }
        try requireFree(name, besides: order.device)
        do throws(SystemError) { try source.name(address, name) } catch {
            throw .unkept(order.device, error)
        }
        return .object { writer in
            writer.field("alias", name)
            writer.field("source", order.device)
        }
    }

    /// Nil where no broadcaster was named so.
    func forgetBroadcaster(_ word: String) throws(ControlRefusal) -> ControlResponse? {
        guard let source = sources.broadcasts, let (address, name) = source.named(word) else { return nil }
        do throws(SystemError) { _ = try source.forget(address) } catch { throw .unkept(word, error) }
        return .named(name, Device.uri(ofBluetooth: address.description))
    }
}

extension ControlRefusal {
    fileprivate static func unkept(_ word: String, _ error: SystemError) -> ControlRefusal {
        ControlRefusal(
            .failed, code: "failed", message: "what was said of '\(word)' could not be kept: \(error.description)",
            advice: "fix the state directory and try again")
    }
}
