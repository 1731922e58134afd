// The meaning of bluetoothd's answers to the bridge's calls, beyond their names.
import WakeLoop
import WakeModel
import WakeSystem

extension BusError {
    /// There was no answer on the air, or on the bus.
    var isAbsence: Bool { isTimeout || isNobodyThere || isUnknownObject || self == .gone || isOfAir }

    private var isOfAir: Bool {
        [
            "page-timeout", "br-connection-timeout", "br-connection-canceled", "adapter-not-powered", "Host is down",
            "Connection timed out",
        ].contains { message.contains($0) }
    }

    /// Said by the bus, or by the end of it, before the time was over: bluetoothd has gone.
    func isEnd(askedAt: Instant, within time: TimeSpan) -> Bool {
        isTimeout && SystemClock.monotonic() < askedAt + time
    }
}
