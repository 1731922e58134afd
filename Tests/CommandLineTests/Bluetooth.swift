// The tool beside a scripted bluetoothd on a message bus of the test's own.
import Glibc
import TestBench
import WakeSystem

/// What one test's org.bluez is, how it behaves, and what it was asked.
final class ScriptedBluetooth {
    let bus: PrivateBus
    private let directory: String
    private var bluetoothd: Child?

    /// - Parameter world: as Tests/CommandLineTests/bluez.py reads it; nil for a bus without bluetoothd.
    init(_ world: String?) throws {
        bus = try PrivateBus()
        directory = try Directory.makeTemporary(prefix: "wakepair")
        guard let world else { return }
        try File.replace(directory + "/world.json", with: Array(world.utf8))
        bluetoothd = try Child([
            "env", "TZ=UTC", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "/usr/bin/python3", Self.script("bluez.py"),
            directory + "/world.json",
        ])
        let isThere = try Patience.wait {
            try bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner",
                ["string:org.bluez"]
            ).contains("boolean true")
        }
        guard isThere else { throw SystemError("start", "bluez.py: \(bluetoothd?.talk ?? "")", .timedOut) }
    }

    deinit { Directory.removeTree(directory) }

    /// Every call to it so far, a line each. The bus keeps the order, so what it answers now comes after them all.
    var calls: [String] {
        _ = try? bus.call("org.bluez", "/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
        return (bluetoothd?.output ?? "").split(separator: "\n").map(String.init)
    }

    func tool(_ words: String...) throws -> (exit: Int32, output: String, talk: String) { try tool(words) }
    /// - Parameter wrapper: a command that runs the one behind it.
    func tool(_ words: [String], below wrapper: [String] = []) throws -> (exit: Int32, output: String, talk: String) {
        try Child(environment + wrapper + [Built.tool] + words).finish()
    }

    /// Lets other tests run meanwhile, since the tool spends most of its time waiting.
    func tool(_ words: String...) async throws -> (exit: Int32, output: String, talk: String) { try await tool(words) }
    func tool(
        _ words: [String], below wrapper: [String] = []
    ) async throws -> (exit: Int32, output: String, talk: String) {
        try await Child(environment + wrapper + [Built.tool] + words).result()
    }

    /// On a terminal, where each prompt gets its answer, so long after it was seen; what was seen is `output`.
    func terminal(_ answers: [(prompt: String, answer: String)], thinking seconds: Double = 0, _ words: String...)
        async throws -> (exit: Int32, output: String, talk: String)
    { try await terminal(answers, thinking: seconds, words) }

    func terminal(_ answers: [(prompt: String, answer: String)], thinking seconds: Double = 0, _ words: [String])
        async throws -> (exit: Int32, output: String, talk: String)
    {
        try await Child(command(answers, thinking: seconds, words)).result()
    }

    /// The tool on a terminal, as a command.
    func command(
        _ answers: [(prompt: String, answer: String)], thinking seconds: Double = 0, _ words: [String]
    ) -> [String] {
        let pairs = answers.map { "[\"\($0.prompt)\", \"\($0.answer)\"]" }.joined(separator: ", ")
        return environment + ["/usr/bin/python3", Self.script("terminal.py"), "[\(pairs)]", "\(seconds)", Built.tool]
            + words
    }

    func start(_ words: String...) throws -> Child { try start(words) }
    func start(_ words: [String], input: Int32? = nil) throws -> Child {
        try Child(environment + [Built.tool] + words, input: input)
    }

    func startDaemon(_ words: [String]) throws -> Child { try Child(environment + [Built.daemon] + words) }

    private var environment: [String] {
        [
            "env", "TZ=UTC", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "XDG_RUNTIME_DIR=\(directory)",
            "WAKEBRIDGE_SOCKET=/nonexistent",
        ]
    }

    private static func script(_ name: String) -> String {
        #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/" + name
    }
}
