// Whether a Raspberry Pi's supply sags: the alarm of its own voltage sensor.
import Glibc

public struct UnderVoltage: ~Copyable {
    public static let root = "/sys/class/hwmon"

    private let alarm: FileDescriptor

    /// Polls `priority` when the alarm has changed since it was read.
    public var raw: Int32 { alarm.raw }

    /// Nil where the machine has no such sensor.
    public init?(under root: String = root) throws(SystemError) {
        let names = (try? Directory.names(in: root)) ?? []
        guard let name = names.first(where: { File.word(at: "\(root)/\($0)/name") == "rpi_volt" }) else { return nil }
        alarm = try File.open("\(root)/\(name)/in0_lcrit_alarm", for: .read)
    }

    package init(owning alarm: consuming FileDescriptor) { self.alarm = alarm }

    /// The voltage is, or has just been, too low. It waits for the next change only once this has been read.
    public borrowing func isAlarmed() throws(SystemError) -> Bool {
        try alarm.front(limit: 16).first == UInt8(ascii: "1")
    }
}
