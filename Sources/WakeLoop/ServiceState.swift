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

    /// Sends a line for `systemctl status`.
    public static func status(_ line: String) { notify("STATUS=\(line.prefix { $0 != "\n" })") }

    /// Hangs up once the service manager has done all that it was sent before: it closes the other end then. Nil where it does not get it.
    static func barrier() -> FileDescriptor? {
        guard let ends = try? Pipe(ours: .read).releaseEnds() else { return nil }
        let ours = FileDescriptor(owning: ends.readEnd)
        let theirs = FileDescriptor(owning: ends.writeEnd)
        var sent = [theirs.raw]
        let answer = sd_pid_notify_with_fds(0, 0, "BARRIER=1", &sent, 1)
        _ = consume theirs
        guard answer > 0 else { return nil }
        return ours
    }

    private static func notify(_ state: String) { _ = sd_notify(0, state) }
}
