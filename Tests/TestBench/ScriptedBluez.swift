// An org.bluez that does what a test tells it, faults and all; bluez.py beside this file is the other half.
import Glibc
import WakeSystem

package final class ScriptedBluez: Peer {
    private let child: Child
    private let commands: Int32
    private var answered = 0

    /// On the bus at once, but in nobody's name until it is told to `live`.
    package init(on bus: PrivateBus) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError("make", "a pipe", .last) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        commands = ends[1]
        // Beside this file, wherever it was built from.
        let script = String(#filePath).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/bluez.py"
        child = try Child(
            ["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "/usr/bin/python3", script], input: ends[0])
        _ = try answer(to: "start")
    }

    deinit { close(commands) }

    /// Has it do something, and waits until that is done; returns what it says of it.
    @discardableResult
    package func tell(_ command: String) throws -> String {
        let line = Array("\(command)\n".utf8)
        guard write(commands, line, line.count) == line.count else { throw SystemError("tell bluez", command, .last) }
        return try answer(to: command)
    }

    private func answer(to command: String) throws -> String {
        _ = Patience.wait { lines.count > answered || child.isOver }
        guard lines.count > answered else {
            throw SystemError("have bluez.py do", "\(command): \(child.talk)", .timedOut)
        }
        answered += 1
        return String(lines[answered - 1].dropFirst(3))
    }

    private var lines: [Substring] { child.output.split(separator: "\n") }

    package var processes: [Int32] { [child.process] }
    package var isGone: Bool { child.isOver }

    /// As if it hung.
    package func pause() { Glibc.kill(child.process, SIGSTOP) }
    package func resume() { Glibc.kill(child.process, SIGCONT) }

    /// As if it had crashed.
    package func kill() {
        Glibc.kill(child.process, SIGKILL)
        _ = Patience.wait { child.isOver }
    }
}
