// Adapters that stopped to scan after a connection that failed: noticed on the air alone, since neither the kernel nor bluetoothd
// tells, and switched off and on, since nothing less helps.
import WakeLoop
import WakeModel

extension BluetoothSource {
    func noteFailedConnect(_ index: UInt16) {
        stalls.fail("/org/bluez/hci\(index)", at: clock().moment.monotonic)
        rearm()
    }

    func noteScan(_ index: UInt16) {
        guard !stalls.isEmpty else { return }
        stalls.recover("/org/bluez/hci\(index)")
        rearm()
    }

    /// When the next one is mended; nobody is disturbed for the sake of an adapter on which nobody is waited for.
    var stallDue: Instant? { stalls.adapters.compactMap { stallDue($0) }.min() }

    private func stallDue(_ adapter: String) -> Instant? {
        guard watched.values.contains(where: { isAwaited($0, on: adapter) }) else { return nil }
        return stalls.due(adapter, carrying: links(on: adapter), patience)
    }

    /// By the kernel, which scans for nobody else.
    private func isAwaited(_ entry: Watched, on adapter: String) -> Bool {
        entry.path.parent == adapter && entry.machine.isAwaited && application.awaits(entry.services, on: adapter)
    }

    func mendStalls(_ now: Instant) {
        for adapter in stalls.adapters {
            guard let due = stallDue(adapter), due <= now else { continue }
            stalls.restart(adapter, carrying: links(on: adapter), at: now)
            restart(adapter)
        }
    }

    private func restart(_ adapter: String) {
        guard let kernel, let index = KernelLinks.index(of: adapter) else { return }
        let address = client.mirror.adapters[adapter]?.address ?? adapter
        log.notice("adapter \(address) does not scan since a connection failed, so it is switched off and on")
        kernel.restart(index) { [weak self] failure in
            guard let failure else { return }
            self?.log.warning(
                "could not switch adapter \(address) off and on, so nothing connects on it: \(failure.sentence); run "
                    + "'bluetoothctl power off' and 'bluetoothctl power on'")
        }
    }
}
