// Notifies the service manager; does nothing where there is none.
import CSystemd
import WakeSystem

public enum ServiceState {
    /// Whether a service manager listens.
    public static var isHeard: Bool { Environment.value(of: "NOTIFY_SOCKET") != nil }

    public static func ready() { notify("READY=1") }
    public static func stopping() { notify("STOPPING=1") }

    /// One line for `systemctl status`.
    public static func status(_ line: String) { notify("STATUS=\(line.prefix { $0 != "\n" })") }

    private static func notify(_ state: String) { _ = sd_notify(0, state) }
}
