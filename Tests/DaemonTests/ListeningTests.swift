// Where the gap of a peripheral begins that was silent, or perhaps dead, when the daemon ended.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Gaps over restarts", .serialized)
struct ListeningTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// Two straps, each heard by a handler of its own.
    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "peripheral 2 hci0", "live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        for number in 1...2 {
            try daemon.drop(
                "strap\(number)", manifest(daemon.folder + "/diary.py", watch: "device: \"Strap \(number)\""))
        }
        try daemon.start()
        try #require(daemon.wait { heard("connected", by: 1) == 1 && heard("connected", by: 2) == 1 }, "\(daemon.log)")
        #expect(try bluez.tell("say 60") == "1 2")
        #expect(daemon.wait { heard("data", by: 1) == 1 })
    }

    private func heard(_ word: String, by number: Int) -> Int {
        daemon.diary("strap\(number)").count { $0.hasPrefix(word + " ") }
    }

    /// When the last gap of the first strap begins.
    private func gapBegins() throws -> WallTime {
        // The handler must have got the gap too.
        try daemon.settle()
        let line = try #require(daemon.diary("strap1").last { $0.hasPrefix("gap ") })
        let text = line.drop { $0 != "{" }
        let gap = try JSONValue(parsing: Array(text.utf8))
        return try #require(gap["from"]?.string.flatMap { WallTime(rfc3339: $0) })
    }

    /// The second strap speaks for so long that the journal has been written well after `moment`.
    private func speak(after moment: WallTime) throws {
        while daemon.wall < moment + .seconds(1) {
            #expect(try bluez.tell("say 61").contains("2"))
            try daemon.advance(by: .milliseconds(50))
        }
        #expect(heard("data", by: 2) > 5)
    }

    @Test("a strap that was away when the daemon was killed has its gap from when it went", arguments: [false, true])
    func away(isReplaced: Bool) throws {
        try bluez.tell("quiet")
        try bluez.tell("down 1")
        #expect(daemon.wait { heard("disconnected", by: 1) == 1 })
        let silent = daemon.wall
        try speak(after: silent)
        try daemon.stop(SIGKILL)
        if isReplaced {
            // A life that never watches it keeps what is known.
            try daemon.start("--no-bluetooth")
            try daemon.advance(by: .seconds(10))
            try daemon.stop(SIGKILL)
        }
        try daemon.start()
        #expect(daemon.wait { heard("connected", by: 2) == 2 })
        try bluez.tell("up 1")
        try #require(daemon.wait { heard("connected", by: 1) == 2 }, "\(daemon.diary("strap1"))")
        #expect(try gapBegins() <= silent)
    }

    @Test("a strap whose session was paused has its gap from then on, whatever was restarted meanwhile")
    func paused() throws {
        #expect(try daemon.tool("session", "pause", "Strap 1").exit == 0)
        #expect(daemon.wait { heard("disconnected", by: 1) == 1 })
        let silent = daemon.wall
        try speak(after: silent)
        try daemon.stop()
        try daemon.start()
        #expect(daemon.wait { heard("connected", by: 2) == 2 })
        #expect(try daemon.wait { try daemon.tool("session", "open", "Strap 1").exit == 0 })
        try #require(daemon.wait { heard("connected", by: 1) == 2 }, "\(daemon.diary("strap1"))")
        #expect(try gapBegins() <= silent)
    }

    @Test("what was up when the daemon was killed may be dead since it was armed; at an end in order it had spoken")
    func up() throws {
        let armed = daemon.wall
        try speak(after: armed)
        try daemon.stop(SIGKILL)
        try daemon.start()
        try #require(daemon.wait { heard("connected", by: 1) == 2 }, "\(daemon.log)")
        #expect(try gapBegins() <= armed)
        #expect(try bluez.tell("say 62") == "1 2")
        #expect(daemon.wait { daemon.diary("strap1").last?.hasPrefix("data") == true })
        let last = daemon.wall
        try speak(after: last)
        try daemon.stop()
        try daemon.start()
        try #require(daemon.wait { heard("connected", by: 1) == 3 }, "\(daemon.log)")
        #expect(try gapBegins() > last)
    }
}
