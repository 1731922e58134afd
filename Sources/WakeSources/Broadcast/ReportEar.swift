// The ear for advertisements on the kernel's monitor channel: bytes as they were sent, whichever program has the radio listen.
import WakeHCI
import WakeLoop
import WakeModel
import WakeSystem

final class ReportEar {
    private var socket: MonitorSocket
    private var heard: [RadioAddress]??
    var watch: Watch?

    /// Receives none before addresses are set.
    init(_ socket: consuming MonitorSocket) { self.socket = socket }

    deinit { watch?.cancel() }

    var raw: Int32 { socket.raw }

    /// Nil if the channel cannot be had: bluetoothd's reports are used then.
    static func ifAllowed() -> ReportEar? {
        do throws(SystemError) { return ReportEar(try MonitorSocket(hearing: [])) } catch {
            Log("broadcasts").notice("broadcasts are received as far as bluetoothd reports them: \(error.description)")
            return nil
        }
    }

    /// - Parameter addresses: nil for all of them.
    func hear(_ addresses: [RadioAddress]?) {
        guard heard != .some(addresses) else { return }
        do throws(SystemError) {
            try socket.keepReports(of: addresses)
            heard = addresses
        } catch {
            Log("broadcasts").warning("\(error.description); every advertisement is looked at")
            heard = .none
            try? socket.keepReports(of: nil)
        }
    }

    /// Returns the reports since the last call, with a limit so that other work is not kept waiting.
    func receive() throws(SystemError) -> [AdvertisingReport] {
        var reports: [AdvertisingReport] = []
        while reports.count < 64, let record = try socket.receive() {
            reports += AdvertisingReport.all(in: record.bytes)
        }
        return reports
    }
}
