// A message bus of a test's own, with a real dbus-daemon, and whom the test lets live on it.
import Glibc
import WakeSystem

package final class PrivateBus: Peer {
    package let address: String
    private var daemon: Child
    private var guests: [Child] = []
    package var processes: [Int32] { ([daemon] + guests).map(\.process) }

    /// - Parameter address: where it listens; nil for a place of its own choice.
    package init(at address: String? = nil) throws {
        daemon = try Self.start(at: address)
        self.address = try Self.firstLine(of: daemon)
    }

    /// With a policy of the test's own: elements as dbus-daemon(1) has them, after which nothing else is forbidden.
    /// - Parameter services: a folder of the files of services that it starts.
    package init(policy: String, servicesIn services: String? = nil) throws {
        let file = try Directory.makeTemporary(prefix: "wakebus") + "/bus.conf"
        let all = #"<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>"#
        let place = "<type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>"
        let starting = services.map { "<servicedir>\($0)</servicedir>" } ?? ""
        put("<busconfig>\(place)\(starting)<policy context=\"default\">\(all)\(policy)</policy></busconfig>", at: file)
        daemon = try Child(["dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile", "--print-address=1"])
        address = try Self.firstLine(of: daemon)
        // It has read the file by the time that it tells its address.
        Directory.removeTree(String(file.dropLast("/bus.conf".count)))
    }

    private static func start(at address: String?) throws -> Child {
        let place = address.map { ["--address=\($0)"] } ?? []
        return try Child(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"] + place)
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

    /// It answers nobody until it is resumed.
    package func pause() { Glibc.kill(daemon.process, SIGSTOP) }
    package func resume() { Glibc.kill(daemon.process, SIGCONT) }

    /// As if the bus had crashed.
    package func kill() {
        Glibc.kill(daemon.process, SIGKILL)
        _ = Patience.wait { daemon.isOver }
    }

    private func wait(for name: String) throws {
        let isThere = try Patience.wait {
            try call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", ["string:\(name)"]
            ).contains("boolean true")
        }
        guard isThere else { throw SystemError("find on the bus", name, .timedOut) }
    }

    private static func firstLine(of child: Child) throws -> String {
        _ = Patience.wait { child.output.contains("\n") || child.isOver }
        guard let end = child.output.firstIndex(of: "\n") else {
            throw SystemError("start", "dbus-daemon: \(child.talk)", .noEntry)
        }
        return String(child.output[..<end])
    }
}
