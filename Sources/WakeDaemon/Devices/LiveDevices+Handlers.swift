// What the stop and the start of handlers do to the sessions of devices that nobody else listens to.
import WakeModel
import WakeSystem

extension LiveDevices {
    /// What only stopped handlers watch is let go, so that a telephone may have it; closed by hand or kept, it stays as it is.
    func handlerDidStop(_ handler: HandlerID) {
        for device in devices(watchedBy: handler) where sessions[device.uri] == .open {
            guard !hasRunningWatcher(device, besides: handler) else { continue }
            change(device, to: "closed") { () throws(SystemError) in
                try sessions.stop(device.uri)
                watch(of: device.kind)?.apply(.closed, to: device.uri)
            }
        }
    }

    func handlerDidStart(_ handler: HandlerID) {
        for device in devices(watchedBy: handler) where sessions.isStopped(device.uri) {
            change(device, to: "opened") { () throws(SystemError) in try set(.open, of: device) }
        }
    }

    private func change(_ device: Device, to what: String, _ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch {
            Log("sessions").error(
                "the session of \(device.alias) was not \(what): \(error.description); mend the state directory")
        }
    }

    private func devices(watchedBy handler: HandlerID) -> [Device] {
        bridge.catalog.devices(watchedBy: handler).map(\.device).filter { watch(of: $0.kind) != nil }
    }

    private func hasRunningWatcher(_ device: Device, besides handler: HandlerID) -> Bool {
        bridge.catalog.handlers.keys.contains { other in
            other != handler && bridge.turn.standing(of: other)?.state != .stopped
                && devices(watchedBy: other).contains { $0.uri == device.uri }
        }
    }
}
