// A message bus of a test's own, with a real dbus-daemon, and whom the test lets live on it.
import Glibc
import WakeSystem

package final class PrivateBus {
    package let address: String
    private let daemon: Child
    private var guests: [Child] = []

    package init() throws {
        daemon = try Child(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"])
        address = try Self.firstLine(of: daemon)
    }

    /// Runs one of python-dbusmock's own templates, until it stands on the bus under `name`.
    package func runMock(of template: String, as name: String) throws {
        guests.append(
            try Child([
                "env", "DBUS_SYSTEM_BUS_ADDRESS=\(address)", "/usr/bin/python3", "-m", "dbusmock", "--system",
                "--template", template,
            ]))
        try wait(for: name)
    }

    /// Calls what `gdbus call` would, as somebody else on the bus; returns what it printed.
    @discardableResult
    package func call(_ destination: String, _ path: String, _ method: String, _ arguments: [String] = []) throws
        -> String
    {
        let words = ["env", "DBUS_SESSION_BUS_ADDRESS=\(address)", "dbus-send", "--session", "--print-reply"]
        let (exit, output, talk) = try Child(words + ["--dest=\(destination)", path, method] + arguments).finish()
        guard exit == 0 else { throw SystemError("call", "\(method): \(talk)", .invalid) }
        return output
    }

    /// Ends everybody but the bus.
    package func dismissGuests() { guests = [] }

    /// As if the bus had crashed.
    package func kill() { Glibc.kill(daemon.process, SIGKILL) }

    private func wait(for name: String) throws {
        for _ in 0..<1000 {
            let answer = try call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", ["string:\(name)"]
            )
            if answer.contains("boolean true") { return }
            usleep(10_000)
        }
        throw SystemError("find on the bus", name, .timedOut)
    }

    private static func firstLine(of child: Child) throws -> String {
        for _ in 0..<5000 {
            let text = child.output
            if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
            guard !child.isOver else { break }
            usleep(1000)
        }
        throw SystemError("start", "dbus-daemon: \(child.talk)", .noEntry)
    }
}
