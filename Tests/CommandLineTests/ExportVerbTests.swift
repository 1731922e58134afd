// The export verb: a trace on disk becomes a capture that import reads back, and what cannot be exported is told.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The export verb") final class ExportVerbTests {
    private let directory: String

    init() throws { directory = try Directory.makeTemporary(prefix: "export") }
    deinit { Directory.removeTree(directory) }

    private func path(_ name: String) -> String { directory + "/" + name }

    @Test("an export that is imported again tells the same data")
    func comesBack() throws {
        let (trace, capture) = (path("a.trace"), path("a.btsnoop"))
        let head = "wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n"
        let operations = "+0.000000 1 connect\n+0.812000 1 data 2a37 1049\n+1.000000 1 disconnect reason=timeout\nend\n"
        let text = head + "device 1 bluetooth C0:F1:F2:F3:F4:01 name=\"H10\" service=180d\n" + operations
        try File.replace(trace, with: Array(text.utf8))
        let exported = try Built.run("export", trace, "-o", capture, "--json")
        #expect(exported.exit == 0)
        let told = #"{"records":19,"links":1,"notifications":1,"advertisements":0,"devices":1}"#
        #expect(exported.output == told + "\n")
        #expect(try Built.run("import", capture).output == text)
    }

    @Test(
        "a table holds each value of each device once, decoded, whatever handlers the trace tells of",
        arguments: ["csv", "ndjson"])
    func values(form: String) throws {
        let (trace, table) = (path("day.trace"), path("day." + form))
        let watch = #"manifest {"subscriptions":[{"profile":"heart-rate"}]}"#
        let day = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.000000Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap, left" service=180d
            device 2 accessory 2341:0043:85736323838351F0B1A2
            +0.000000 handler one \(watch)
            +0.000000 handler two \(watch)
            +0.000000 1 connect
            +0.000000 2 connect
            +1.000000 1 data 2a37 0048
            +1.000000 2 data serial 6869
            +1.000000 1 data 2a37 0049
            end

            """
        try File.replace(trace, with: Array(day.utf8))
        let exported = try Built.run("export", trace, "-o", table, "--form", form, "--json")
        #expect(exported.exit == 0 && exported.output == "{\"values\":3}\n", "\(exported.talk)")
        let rows = try form == "csv" ? Self.csv(text(of: table)) : Self.ndjson(lines(of: table))
        #expect(
            rows == [
                "2026-11-21T07:42:47 strap, left 2a37 72", "2026-11-21T07:42:48 device-b1a2 serial 6869",
                "2026-11-21T07:42:49 strap, left 2a37 73",
            ], "\(text(of: table))")
    }

    /// Of each row the time to the second, the alias, the channel, and what was sent; RFC 4180 as Python reads it.
    private static func csv(_ text: String) throws -> [String] {
        let program = """
            import csv, io, sys
            rows = list(csv.DictReader(io.StringIO(sys.argv[1], newline='')))
            for row in rows:
                if row['field'] in ('bpm', 'raw'):
                    print(row['time'][:19], row['alias'], row['channel'], row['value'])
            """
        let read = try Child(["python3", "-c", program, text]).finish()
        #expect(read.exit == 0, "\(read.talk)")
        return read.output.split(separator: "\n").map(String.init)
    }

    private static func ndjson(_ lines: [String]) throws -> [String] {
        try lines.map { line in
            let row = try JSONValue(parsing: Array(line.utf8))
            let words = ["alias", "channel"].map { row[$0]?.string ?? "" }
            let value = row["value"]?["bpm"]?.integer.map(String.init) ?? row["raw"]?.string ?? ""
            return "\((row["time"]?.string ?? "").prefix(19)) \(words[0]) \(words[1]) \(value)"
        }
    }

    @Test("pcapng of a trace is read by import as the same data")
    func pcapng() throws {
        let (trace, capture) = (path("c.trace"), path("c.pcapng"))
        let text = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 name="H10" service=180d
            +0.000000 1 connect
            +0.812000 1 data 2a37 1049
            +1.000000 1 disconnect reason=timeout
            end

            """
        try File.replace(trace, with: Array(text.utf8))
        #expect(try Built.run("export", trace, "-o", capture, "--form", "pcapng").exit == 0)
        #expect(try Built.run("import", capture).output == text)
    }

    @Test(
        "an export replaces a file only where --force is said, and then its mode stays; a new one is its owner's alone")
    func overwrites() throws {
        let (trace, table) = (path("c.trace"), path("c.csv"))
        put(
            "wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 service=180d\nend\n",
            at: trace)
        #expect(try Built.run("export", trace, "-o", table, "--form", "csv").exit == 0)
        #expect(File.mode(of: table) == 0o600)
        chmod(table, 0o640)
        let refused = try Built.run("export", trace, "-o", table, "--form", "csv")
        #expect(
            refused.exit == 5
                && refused.talk.contains("it is there already; name another file, or replace it with --force"))
        put("mine", at: table)
        chmod(table, 0o640)
        #expect(try Built.run("export", trace, "-o", table, "--form", "csv", "--force", "--quiet").talk == "")
        #expect(text(of: table).hasPrefix("time,device") && File.mode(of: table) == 0o640)
    }

    @Test(
        "what root exports with sudo belongs to the user that called sudo",
        .enabled(if: Machine.isRoot, "to give a file away"))
    func belongsToCaller() throws {
        let (trace, table) = (path("d.trace"), path("d.csv"))
        put(
            "wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 service=180d\nend\n",
            at: trace)
        let words = ["env", "SUDO_UID=1", Built.tool, "export", trace, "-o", table, "--form", "csv"]
        #expect(try Child(words).finish().exit == 0)
        var status = stat()
        #expect(stat(table, &status) == 0 && status.st_uid == 1 && status.st_mode & 0o777 == 0o600)
    }

    @Test("a trace that is damaged, or holds accessories only, is exit 1 with the reason and leaves no file")
    func refuses() throws {
        let (trace, capture) = (path("b.trace"), path("b.btsnoop"))
        let head = "wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n"
        for (text, reason) in [
            (head + "device 1 accessory 2341\nend\n", "there is no Bluetooth device in it"),
            (head + "device 1 bluetooth C0:F1:F2:F3:F4:01\n", "it was cut"),
        ] {
            try File.replace(trace, with: Array(text.utf8))
            let exported = try Built.run("export", trace, "-o", capture)
            #expect(exported.exit == 1)
            #expect(exported.talk.contains("cannot export \(trace)") && exported.talk.contains(reason))
            #expect(!File.exists(capture))
        }
    }
}

@Suite("The record verb without a daemon") struct AirVerbTests {
    private static let hasBluetooth = socket(31, Int32(SOCK_RAW.rawValue), 1) >= 0

    @Test(
        "where this machine has no Bluetooth, --air says so and what to do, and leaves the file alone",
        .enabled(if: !hasBluetooth, "this machine has Bluetooth"))
    func refuses() throws {
        let file = try Directory.makeTemporary(prefix: "air")
        defer { Directory.removeTree(file) }
        let outcome = try Built.run("record", "--air", file + "/a.btsnoop")
        #expect(outcome.exit == 1)
        #expect(outcome.talk.contains("cannot record the air: could not open the Bluetooth monitor channel"))
        #expect(outcome.talk.contains("modprobe bluetooth"))
        #expect(!File.exists(file + "/a.btsnoop"))
    }
}
