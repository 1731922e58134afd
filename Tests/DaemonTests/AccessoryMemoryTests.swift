// Which accessory is which over the lives of the daemon: what people said of twins, of one that moved and of one to be forgotten.
import TestBench
import Testing
import WakeModel

@Suite(
    "Accessories over restarts of the daemon", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryMemoryTests {
    /// Twins on new sockets, told apart by people; one with a serial number, which goes from socket to socket; and one that
    /// is forgotten while it is away.
    private let prelude = """
        \(running)\(plug("1-1", line: 0))until /dev/ttyACM0 TOOL devices
        \(plug("1-2", line: 1))until /dev/ttyACM1 TOOL devices
        run TOOL pair /dev/ttyACM0 --alias left
        run TOOL pair /dev/ttyACM1 --alias right
        \(unplug("1-1", line: 0))\(unplug("1-2", line: 1))\(plug("1-3", line: 2))until may%20be TOOL devices
        run TOOL pair /dev/ttyACM2 --as right
        \(plug("1-4", line: 3))until may%20be%20left, TOOL devices
        run TOOL pair /dev/ttyACM3 --as left
        \(plug("1-5", line: 5, serial: "W1"))until /dev/ttyACM5 TOOL devices
        run TOOL pair /dev/ttyACM5 --alias walker
        \(unplug("1-5", line: 5))\(plug("1-6", line: 6, serial: "W1"))until /dev/ttyACM6 TOOL devices
        \(plug("1-7", line: 7, serial: "F1"))until /dev/ttyACM7 TOOL devices
        run TOOL pair /dev/ttyACM7 --alias forgotten
        \(unplug("1-7", line: 7))until not%20attached TOOL devices
        run TOOL forget forgotten

        """

    private func devices(_ json: String) throws -> [JSONValue] {
        let answer = try JSONValue(parsing: Array(json.utf8))
        #expect(answer["doubts"]?.array?.isEmpty == true, "\(json)")
        return answer["devices"]?.array ?? []
    }

    /// `left /dev/ttyACM3 /accessory/…`.
    private func rows(_ devices: [JSONValue]) -> [String] {
        devices.map { device in
            ["alias", "node", "source"].map { device[$0]?.string ?? "-" }.joined(separator: " ")
        }
    }

    @Test("accessories keep their names over a restart, and over a crash with what was attached meanwhile")
    func restarts() throws {
        let said = try Workshop().play(
            """
            \(prelude)run TOOL devices --json
            run cat FOLDER/state/accessories
            signal TERM wakebridged
            DAEMON
            until /dev/ttyACM3 TOOL devices
            until /dev/ttyACM2 TOOL devices
            until /dev/ttyACM6 TOOL devices
            run TOOL devices --json
            run cat FOLDER/state/accessories
            signal KILL wakebridged
            \(unplug("1-3", line: 2))\(unplug("1-4", line: 3))\(unplug("1-6", line: 6))\(plug("1-8", line: 8, serial: "W1"))DAEMON
            until /dev/ttyACM8 TOOL devices
            \(plug("1-4", line: 3))until /dev/ttyACM3 TOOL devices
            \(plug("1-3", line: 2))until /dev/ttyACM2 TOOL devices
            \(plug("1-7", line: 7, serial: "F1"))until /dev/ttyACM7 TOOL devices
            run TOOL devices --json
            """)
        let looks = try said.split(separator: "\n").filter { $0.hasPrefix(#"{"devices""#) }.map {
            try devices(String($0))
        }
        try #require(looks.count == 3, "\(said)")
        let before = rows(looks[0])
        let names = before.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(names == ["left /dev/ttyACM3", "right /dev/ttyACM2", "walker /dev/ttyACM6"], "\(said)")
        #expect(rows(looks[1]) == before)
        let books = said.split(separator: "exit 0\n").filter { $0.hasPrefix(#"{"source""#) }
            .map { Set($0.split(separator: "\n").filter { $0.hasPrefix("{") }) }
        #expect(books.count == 2 && books.first?.count == 3 && books.first == books.last, "\(books)")
        // Whoever was forgotten is there again, and new.
        let after = rows(looks[2])
        #expect(after.count == 4 && after.contains { $0.hasPrefix("scale-F1 /dev/ttyACM7 ") }, "\(after)")
        let walked = before.map { $0.replacing("/dev/ttyACM6", with: "/dev/ttyACM8") }
        #expect(after.filter { !$0.hasPrefix("scale-F1 ") } == walked)
    }
}
