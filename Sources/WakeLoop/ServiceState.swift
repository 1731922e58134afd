// Notifies the service manager; does nothing where there is none.
import CSystemd
import WakeSystem

public enum ServiceState {
    /// Whether a service manager listens.
    public static var isHeard: Bool { Environment.value(of: "NOTIFY_SOCKET") != nil }

    /// The service manager waits for this, and ends a daemon that does not report it in time.
    public static func ready() throws(SystemError) {
        try check(sd_notify(0, "READY=1"), "report readiness to", "the service manager")
    }
    public static func stopping() { notify("STOPPING=1") }

    /// One line for `systemctl status`.
    public static func status(_ line: String) { notify("STATUS=\(line.prefix { $0 != "\n" })") }

    private static func notify(_ state: String) { _ = sd_notify(0, state) }
}
