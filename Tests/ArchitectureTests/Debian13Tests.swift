// Scripts/debian13.sh and Scripts/arm64.sh on machines that cannot make a Debian.
import TestBench
import Testing
import WakeSystem

@Suite("Building in a Debian below .build")
struct Debian13Tests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "wakebridge-debian13") }

    /// The script with all of PATH in a folder, where it can do no more than ask who you are.
    private func build(_ script: String, asUser user: Int) -> (status: Int32, output: String) {
        #expect(run("ln -sf \"$(command -v dirname)\" '\(folder)/dirname'").status == 0)
        put("#!/bin/sh\necho \(user)\n", at: "\(folder)/id", mode: 0o755)
        return run("PATH='\(folder)' /bin/sh Scripts/\(script).sh")
    }

    @Test(
        "an ordinary user is told in one sentence that only root can build there, and the build fails",
        arguments: zip(["debian13", "arm64"], ["build in a Debian 13 of its own", "build for arm64"]))
    func ordinaryUser(script: String, work: String) {
        defer { Directory.removeTree(folder) }
        let (status, output) = build(script, asUser: 1000)
        #expect(status == 1)
        #expect(output == "\(script): only root can \(work): run it as root, or with sudo\n")
    }

    @Test("where there is no apt-get, one sentence says so, and the build fails", arguments: ["debian13", "arm64"])
    func withoutApt(script: String) {
        defer { Directory.removeTree(folder) }
        let (status, output) = build(script, asUser: 0)
        #expect(status == 1)
        #expect(output == "\(script): there is no apt-get here to make a Debian with\n")
    }
}
