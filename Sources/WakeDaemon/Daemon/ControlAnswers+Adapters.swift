// What the control socket tells of Bluetooth's adapters, and of what keeps a peripheral from being connected.
import WakeControl
import WakeModel

extension ControlAnswers {
    /// Nil where no Bluetooth is watched.
    func adapters() -> [AdapterStatus]? {
        bluetooth?.source.adapters.map { adapter in
            AdapterStatus(
                address: adapter.address, isPowered: adapter.isPowered, links: adapter.links,
                mostLinks: adapter.mostLinks, waiting: adapter.waiting.map(\.alias))
        }
    }

    /// A sentence; nil where nothing is in its way but, it may be, its session.
    func hindrance(of device: Device) -> String? {
        guard device.mode == .bluetoothCentral else { return nil }
        return bluetooth?.source.hindrance(of: device.source)?.sentence
    }
}
