// What the control socket tells of Bluetooth's adapters.
import WakeControl
import WakeEngine
import WakeModel

extension ControlAnswers {
    /// Nil where no Bluetooth is watched.
    func adapters() -> [AdapterStatus]? {
        sources.bluetooth?.adapters.map { adapter in
            AdapterStatus(
                address: adapter.address, isPowered: adapter.isPowered, links: adapter.links,
                mostLinks: adapter.mostLinks, waiting: adapter.waiting.map(\.alias))
        }
    }
}
