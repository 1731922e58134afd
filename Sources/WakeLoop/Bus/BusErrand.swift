// A call over a connection and a thread of its own: its answer brings descriptors, and others on the bus may send some
// too.
import WakeModel
import WakeSystem

extension BusAddress {
    /// Makes the call on a thread. The thread closes descriptors that others send along, which can take as long as they
    /// like.
    public func ask(
        _ call: BusCall, within timeout: TimeSpan
    ) throws(SystemError) -> BackgroundJob<Result<[BusValue], BusError>> {
        try BackgroundJob { [self] in
            do throws(SystemError) { return try answer(to: call, within: timeout) } catch {
                return .failure(BusError(name: "org.freedesktop.DBus.Error.Failed", message: error.description))
            }
        }
    }

    private func answer(
        to call: BusCall, within timeout: TimeSpan
    ) throws(SystemError) -> Result<[BusValue], BusError> {
        let loop = try EventLoop()
        let bus = try BusConnection(on: loop, to: self, takesDescriptors: true)
        var answer: Result<[BusValue], BusError>?
        bus.call(call, within: timeout) { answer = $0 }
        repeat { try loop.runOnce() } while answer == nil && !bus.isLost
        return answer ?? .failure(BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: "the bus is gone"))
    }
}
