// The export verb: a trace on disk becomes a capture that import reads back, and what cannot be exported is told.
import Glibc
import TestBench
import Testing
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
