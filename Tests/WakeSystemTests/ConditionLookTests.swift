// Single looks at the machine for conditions: mounts, free space, load, voltage, locks and zones.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("Looks for conditions")
struct ConditionLookTests {
    @Test("a mount point is found by its whole path, whatever characters the kernel had to escape in it")
    func mounts() throws {
        let directory = makeDirectory("/tmp/wakebridge-look-XXXXXX")
        defer { Directory.removeTree(directory) }
        put(
            """
            22 28 0:20 / /proc rw,nosuid - proc proc rw
            31 28 8:1 / /data rw,relatime shared:1 - ext4 /dev/sda1 rw
            32 28 8:2 / /my\\040disk\\011two rw - ext4 /dev/sda2 rw
            33 28 8:3 / /back\\134slash rw - ext4 /dev/sda3 rw
            34 28 8:4 /sub/data2 /srv/x rw - ext4 /dev/sda4 rw
            broken
            """, at: "\(directory)/mountinfo")
        let table = try MountTable("\(directory)/mountinfo")
        let there = ["/data", "/my disk\ttwo", "/back\\slash", "/srv/x"]
        let missing = ["/dat", "/data/x", "/srv", "/sub/data2", "/my\\040disk\\011two", "/"]
        #expect(try table.mounted(among: there + missing) == Set(there))
        #expect(try table.mounted(among: []) == [])
        #expect(try MountTable().mounted(among: ["/proc"]) == ["/proc"])
    }

    @Test("a file system has room with a twentieth free, and never with less than 100 MiB")
    func storage() throws {
        let (mib, gib): (UInt64, UInt64) = (1 << 20, 1 << 30)
        #expect(StorageSpace(totalBytes: gib, availableBytes: 100 * mib).hasRoom)
        #expect(!StorageSpace(totalBytes: gib, availableBytes: 100 * mib - 1).hasRoom)
        #expect(StorageSpace(totalBytes: 40 * gib, availableBytes: 2 * gib).hasRoom)
        #expect(!StorageSpace(totalBytes: 40 * gib, availableBytes: 2 * gib - 1).hasRoom)
        let here = try StorageSpace(of: "/")
        #expect(here.totalBytes > 0 && here.availableBytes <= here.totalBytes)
        let error = thrown(SystemError.self) { try StorageSpace(of: "/nowhere/at/all") }
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }

    @Test("processors are calm below ten percent of pressure, and where none is told below half a task for each core")
    func load() throws {
        let directory = makeDirectory("/tmp/wakebridge-look-XXXXXX")
        defer { Directory.removeTree(directory) }
        let load = LoadPressure(root: directory, cores: 4)
        #expect(!load.isCalm, "nothing can be read")
        put("1.99 9.00 9.00 1/100 1234\n", at: "\(directory)/loadavg")
        #expect(load.isCalm)
        put("2.00 0.00 0.00 1/100 1234\n", at: "\(directory)/loadavg")
        #expect(!load.isCalm)
        mkdir("\(directory)/pressure", 0o755)
        put("some avg10=9.99 avg60=50.00 avg300=50.00 total=1\nfull avg10=0.00\n", at: "\(directory)/pressure/cpu")
        #expect(load.isCalm, "pressure counts and not the load")
        put("some avg10=10.00 avg60=0.00 avg300=0.00 total=1\n", at: "\(directory)/pressure/cpu")
        #expect(!load.isCalm)
        put("some avg10=nonsense\n", at: "\(directory)/pressure/cpu")
        put("0.01 0.00 0.00 1/100 1234\n", at: "\(directory)/loadavg")
        #expect(load.isCalm, "what cannot be read does not count")
    }

    @Test("only the sensor of a Raspberry Pi's supply is asked, by its name and not its number")
    func voltage() throws {
        let directory = makeDirectory("/tmp/wakebridge-look-XXXXXX")
        defer { Directory.removeTree(directory) }
        #expect(try alarm(under: directory) == nil)
        #expect(try alarm(under: "\(directory)/nowhere") == nil)
        for (number, name) in ["cpu_thermal", "rpi_volt"].enumerated() {
            mkdir("\(directory)/hwmon\(number)", 0o755)
            put("\(name)\n", at: "\(directory)/hwmon\(number)/name")
            put("\(number)\n", at: "\(directory)/hwmon\(number)/in0_lcrit_alarm")
        }
        #expect(try alarm(under: directory) == true)
        put("0\n", at: "\(directory)/hwmon1/in0_lcrit_alarm")
        #expect(try alarm(under: directory) == false)
    }

    /// Nil where nothing measures.
    private func alarm(under root: String) throws -> Bool? {
        switch try UnderVoltage(under: root) {
        case .some(let sensor): try sensor.isAlarmed()
        case .none: nil
        }
    }

    @Test("a zone is a plain file of at most 64 KiB below the zones, and no name leads out of there")
    func zones() throws {
        let directory = makeDirectory("/tmp/wakebridge-look-XXXXXX")
        defer { Directory.removeTree(directory) }
        mkdir("\(directory)/zones", 0o755)
        mkdir("\(directory)/zones/Europe", 0o755)
        put("berlin", at: "\(directory)/zones/Europe/Berlin")
        put("universal", at: "\(directory)/zones/UTC")
        put([UInt8](repeating: 0, count: 64 << 10), at: "\(directory)/zones/Large")
        put([UInt8](repeating: 0, count: (64 << 10) + 1), at: "\(directory)/zones/Larger")
        mkfifo("\(directory)/zones/Pipe", 0o644)
        put("secret", at: "\(directory)/secret")
        let files = ZoneFiles(root: "\(directory)/zones", local: "\(directory)/local")
        #expect(files.bytes(of: "Europe/Berlin") == Array("berlin".utf8))
        #expect(files.bytes(of: "Large")?.count == 64 << 10)
        for name in [
            "Larger", "Pipe", "Europe", "Europe/", "", ".", "..", "../secret", "Europe/../UTC", "\(directory)/secret",
            "/UTC", "Europe//Berlin", "./UTC", "Nowhere", "UTC\0", String(repeating: "a", count: 256),
        ] {
            #expect(files.bytes(of: name) == nil, "\(name)")
        }
        #expect(files.bytes(of: "localtime") == Array("universal".utf8), "none is set")
        symlink("zones/Europe/Berlin", "\(directory)/local")
        #expect(files.bytes(of: "localtime") == Array("berlin".utf8))
    }

    @Test("the system's own zone is called what the link to it says, and nothing where that leads to no zone")
    func namesLocalZone() throws {
        let directory = try Directory.makeTemporary(prefix: "wakezones")
        defer { Directory.removeTree(directory) }
        for folder in ["zoneinfo", "zoneinfo/Europe"] { mkdir("\(directory)/\(folder)", 0o755) }
        put("berlin", at: "\(directory)/zoneinfo/Europe/Berlin")
        let (local, files) = (
            "\(directory)/local", ZoneFiles(root: "\(directory)/zoneinfo", local: "\(directory)/local")
        )
        #expect(files.nameOfLocal == nil, "none is set")
        for (target, name) in [
            ("zoneinfo/Europe/Berlin", "Europe/Berlin"), ("\(directory)/zoneinfo/Europe/Berlin", "Europe/Berlin"),
            ("zoneinfo/Europe/Paris", nil), ("elsewhere/Berlin", nil), ("zoneinfo", nil),
        ] {
            unlink(local)
            symlink(target, local)
            #expect(files.nameOfLocal == name, "\(target)")
        }
        unlink(local)
        put("berlin", at: local)
        #expect(files.nameOfLocal == nil, "no link")
    }
}
